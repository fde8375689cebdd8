// node examples/sdk-ai/dist/ai.main.js
import { play } from './ai.example.js';

process.stdout.write(`${JSON.stringify(await play(), null, 2)}\n`);
