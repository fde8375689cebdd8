// The terminal as the commands see it; specs give another.
import { createInterface } from 'node:readline/promises';
import { CliProblem } from '../problem.js';
import { visible } from './visible.js';

export interface Terminal {
  /** What was asked for: standard output. */
  readonly out: (text: string) => void;
  /** Everything said beside it: standard error. */
  readonly note: (text: string) => void;
  /** True where a person can answer. */
  readonly isInteractive: boolean;
  readonly ask: (question: string) => Promise<string>;
  /** One line about work under way, written over; null takes it away. Only where somebody can see it. */
  readonly progress?: (text: string | null) => void;
}

/** The process's own terminal. Everything passes `visible` on its way out: texts of agents are in it. */
export function processTerminal(): Terminal {
  return {
    out: (text) => {
      process.stdout.write(`${visible(text)}\n`);
    },
    note: (text) => {
      process.stderr.write(`${visible(text)}\n`);
    },
    isInteractive: process.stdin.isTTY && process.stderr.isTTY,
    ...(process.stderr.isTTY ? { progress: showProgress } : {}),
    ask: (question) => answerTo(question, process.stdin, process.stderr),
  };
}

/** What a person types behind a question. Errors: CliProblem(DECLINED) by Ctrl-C, and where the input ends without an answer. */
export async function answerTo(
  question: string,
  input: NodeJS.ReadableStream,
  output: NodeJS.WritableStream,
): Promise<string> {
  const reader = createInterface({ input, output });
  try {
    return await new Promise((resolve, reject) => {
      const stopped = (cause?: unknown): void => {
        reject(new CliProblem('DECLINED', 'stopped at the question; nothing was sent', 'declined', { cause }));
      };
      reader.once('close', stopped);
      reader.question(visible(question)).then(resolve, stopped);
    });
  } catch (stopped) {
    output.write('\n'); // what is said of it stands on a line of its own
    throw stopped;
  } finally {
    reader.close();
  }
}

/** A line that is written over: to its start, clear, write. */
const showProgress = (text: string | null): void => {
  process.stderr.write(`\r\u001b[2K${visible(text ?? '')}`);
};

/** True only for a clear yes. */
export function isYes(answer: string): boolean {
  return ['y', 'yes'].includes(answer.trim().toLowerCase());
}
