// npm run tamper: the whole tamper matrix, each tampering at each of 1,000 records. The last lines are Jest's.
import { join } from 'node:path';
import { root } from './lib/paths.mjs';
import { runNode } from './lib/run.mjs';

process.env.RECOURSE_TAMPER = 'whole';
process.exitCode = await runNode([join(root, 'scripts', 'jest.mjs'), 'unit', 'libs/chain/src/tampering']);
