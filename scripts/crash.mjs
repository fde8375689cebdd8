// npm run test:crash: the drifted refund under kill -9; see test/crash.
import { runBuilt } from './lib/runner.mjs';

await runBuilt('crash', { stack: true });
