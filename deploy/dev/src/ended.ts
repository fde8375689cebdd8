// What is said when a part of the stack ends by itself, which ends the whole stack.
import { startAgain } from './command-line.js';
import type { Start } from './command-line.js';

/** What happened to which part, and where its log is; then what that means. Pure. */
export function deathOf(part: string, how: string, logDir: string, start: Start): string {
  return [
    `${part} stopped unexpectedly: ${how}. See ${logDir}/${part}.log.`,
    `Everything else is stopped with it. Nothing is lost: \`${startAgain(start)}\` starts it again and goes on from what is on record.`,
  ].join('\n');
}
