// The process of the command line.
import { callersFolder } from './callers-folder.js';
import { endProcess, endUnread } from './output/ending.js';
import { processTerminal } from './output/terminal.js';
import { run } from './program.js';

endUnread();
const code = await run(process.argv.slice(2), {
  terminal: processTerminal(),
  environment: process.env,
  folder: callersFolder(process.env, process.cwd()),
  fetch,
});
await endProcess(code);
