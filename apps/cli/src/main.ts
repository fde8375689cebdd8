// The process of the command line.
import { endProcess, endUnread } from './output/ending.js';
import { processTerminal } from './output/terminal.js';
import { run } from './program.js';

endUnread();
const code = await run(process.argv.slice(2), {
  terminal: processTerminal(),
  environment: process.env,
  folder: process.env['INIT_CWD'] ?? process.cwd(),
  fetch,
});
await endProcess(code);
