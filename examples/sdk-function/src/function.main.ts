// node examples/sdk-function/dist/function.main.js [observe | enforce | off]
import { play } from './function.example.js';

const MODES = ['observe', 'enforce', 'off'] as const;
const mode = MODES.find((each) => each === (process.argv[2] ?? 'enforce'));
if (mode === undefined) throw new Error(`the mode is one of ${MODES.join(', ')}`);
process.stdout.write(`${JSON.stringify(await play(mode), null, 2)}\n`);
