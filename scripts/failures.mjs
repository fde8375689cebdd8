// node scripts/failures.mjs FILE ...: the failures in what was printed into files. For the end of .ci/run, where they are looked for.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { failuresIn } from './lib/failures.mjs';

for (const file of process.argv.slice(2))
  console.log(`\n##### what failed in ${basename(file)}\n${failuresIn(readFileSync(file, 'utf8'))}`);
