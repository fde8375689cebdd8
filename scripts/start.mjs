// npm start: from a fresh clone to a running stack. Plain Node 20, no packages; the launcher does the rest on Node 24.
import { join } from 'node:path';
import { bootstrap, main } from './lib/bootstrap.mjs';
import { whenOrphaned } from './lib/orphaned.mjs';
import { root } from './lib/paths.mjs';
import { runNode } from './lib/run.mjs';
import { HELP, parseStartOptions } from './lib/start-options.mjs';

const LAUNCHER = join(root, 'deploy', 'dev', 'dist', 'demo.main.js');

await main(async () => {
  const args = process.argv.slice(2);
  const options = parseStartOptions(args);
  if (options.help) {
    process.stdout.write(HELP);
    return 0;
  }
  whenOrphaned(() => process.kill(process.pid, 'SIGTERM'));
  await bootstrap({ dataDir: options.dataDir, anyNode: true });
  return runNode(['--enable-source-maps', LAUNCHER, ...args.filter((arg) => arg !== '--')]);
});
