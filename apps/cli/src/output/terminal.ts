// The terminal as the commands see it; specs give another.
import { createInterface } from 'node:readline/promises';

export interface Terminal {
  /** What was asked for: standard output. */
  readonly out: (text: string) => void;
  /** Everything said beside it: standard error. */
  readonly note: (text: string) => void;
  /** True where a person can answer. */
  readonly isInteractive: boolean;
  readonly ask: (question: string) => Promise<string>;
}

/** The process's own terminal. */
export function processTerminal(): Terminal {
  return {
    out: (text) => { process.stdout.write(`${text}\n`); },
    note: (text) => { process.stderr.write(`${text}\n`); },
    isInteractive: process.stdin.isTTY && process.stderr.isTTY,
    ask: async (question) => {
      const reader = createInterface({ input: process.stdin, output: process.stderr });
      try {
        return await reader.question(question);
      } finally {
        reader.close();
      }
    },
  };
}

/** True only for a clear yes. */
export function isYes(answer: string): boolean { return ['y', 'yes'].includes(answer.trim().toLowerCase()); }
