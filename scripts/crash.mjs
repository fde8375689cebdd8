// npm run test:crash: the drifted refund under kill -9; with --matrix the crash matrix, with --matrix whole all of it; with --consumers
// consumers of rollbacks under fire; with --legs 200 workers killed at each step of a leg of eleven. See test/crash.
import { runBuilt } from './lib/runner.mjs';

await runBuilt('crash', { stack: true });
