// npm run histories: records what the services of this version write, and what it folds to (test/histories).
import { runBuilt } from './lib/runner.mjs';

await runBuilt('simulation', { stack: false, program: 'record-history.main.js' });
