#!/usr/bin/env -S node --disable-warning=TimeoutNegativeWarning
// Starts the command line; the program itself is compiled to dist/.
import { existsSync } from 'node:fs';
import * as modules from 'node:module';
import { fileURLToPath } from 'node:url';

const NODE_MAJOR_MIN = 22;
const USAGE_EXIT_CODE = 64;
const program = new URL('../dist/main.js', import.meta.url);

if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR_MIN) {
  stop(
    `NODE_TOO_OLD: this is Node ${process.versions.node}`,
    'call it with `npx recourse`, which takes the Node of this repository',
  );
} else if (!existsSync(fileURLToPath(program))) {
  stop('NOT_BUILT: the command line is not compiled yet', 'run `npm run build` (npm start does it too)');
} else {
  // A fifth of a short call is compiling: what was compiled stays beside the program, where nobody else writes.
  modules.enableCompileCache?.(fileURLToPath(new URL('.compiled', program)));
  await import(program.href);
}

function stop(problem, remedy) {
  process.stderr.write(`${problem}\nWhat to do: ${remedy}.\n`);
  process.exitCode = USAGE_EXIT_CODE;
}
