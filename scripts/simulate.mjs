// npm run simulate -- [--seed N | --seeds A..B | --mutant RULE | --mutants] …: see test/simulation.
import { runBuilt } from './lib/runner.mjs';

await runBuilt('simulation', { stack: false });
