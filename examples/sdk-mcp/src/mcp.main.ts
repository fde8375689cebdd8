// node examples/sdk-mcp/dist/mcp.main.js
import { play } from './mcp.example.js';

process.stdout.write(`${JSON.stringify(await play(), null, 2)}\n`);
