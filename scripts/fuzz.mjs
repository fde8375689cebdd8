// npm run fuzz [-- minutes]: parsers of untrusted bytes, each for ten minutes unless told. A failure prints its seed.
import { join } from 'node:path';
import { root } from './lib/paths.mjs';
import { runNode } from './lib/run.mjs';

const minutes = Number(process.argv.slice(2).find((arg) => arg !== '--') ?? '10');
process.env.RECOURSE_FUZZ_MS = String(minutes * 60_000);
process.exitCode = await runNode([join(root, 'scripts', 'jest.mjs'), 'unit', '.fuzz.unit.spec']);
