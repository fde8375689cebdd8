// node examples/sdk-agents/dist/agents.main.js
import { play } from './agents.example.js';

process.stdout.write(`${JSON.stringify(await play(), null, 2)}\n`);
