// The process of the command line.
import { processTerminal } from './output/terminal.js';
import { run } from './program.js';

process.exitCode = await run(process.argv.slice(2), {
  terminal: processTerminal(),
  environment: process.env,
  folder: process.env['INIT_CWD'] ?? process.cwd(),
  fetch,
});
