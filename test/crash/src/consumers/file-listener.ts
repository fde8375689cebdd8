// A plain consumer of notifications with files: its words in one, its place in others, written after them. It hears at least once.
import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createNotificationConsumer, FilePositionStore, systemClock } from '@recourse/sdk';
import type { Word } from './heard.decisions.js';
import { complain, wordsAt } from './listener.js';
import type { Listener } from './listener.js';

const WORDS = 'heard.jsonl';

/** Listens until the process ends. Errors: those of the consumer and of the files. */
export async function listenToFile({ directory, ...reached }: Listener): Promise<void> {
  await mkdir(directory, { recursive: true });
  const words = join(directory, WORDS);
  // A death in the middle of a line leaves its beginning there; the notice was not passed and comes again, with all its words.
  await appendFile(words, '\n');
  await createNotificationConsumer({
    ...reached,
    clock: systemClock,
    positions: new FilePositionStore(directory),
    onTrouble: (_partition, cause) => {
      complain(cause);
    },
    onNotification: async (notice) => {
      const lines = wordsAt(notice.partition, notice.seq, notice).map((word) => `${JSON.stringify(word)}\n`);
      if (lines.length > 0) await appendFile(words, lines.join(''));
    },
  }).start();
}

/** All words of the file, in its order; what is no whole line was never passed. */
export async function wordsInFile(directory: string): Promise<readonly Word[]> {
  const text = await readFile(join(directory, WORDS), 'utf8');
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Word]; // a whole line was written above
    } catch {
      return [];
    }
  });
}
