// npm run bench -- <name> [--quick] [--json FILE]: see test/bench.
import { runBuilt } from './lib/runner.mjs';

await runBuilt('bench', { stack: true });
