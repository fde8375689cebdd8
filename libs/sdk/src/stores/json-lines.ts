// JSON values as lines of one file, for the processes of one host: each is on disk before its append resolves.
//
// Boundary: a claim journal underneath (claim-journal.ts, J1 to J3); a line that a crash tore is no value and is passed over.
import { jsonIn } from '@recourse/kernel';
import { ClaimJournal } from './claim-journal.js';

/** One process's hold on such a file. Errors: those of the file system; the next call opens it anew. */
export class JsonLines {
  private journal: ClaimJournal | null = null;
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly path: string) {}

  append(value: object): Promise<void> {
    return this.alone((journal) => journal.append([JSON.stringify(value)]));
  }

  /** Gives the values that came since the last time, whoever wrote them; after an error all of them again. */
  readOn(take: (value: unknown) => void): Promise<void> {
    return this.alone((journal) =>
      journal.readOn((line) => {
        const value = jsonIn(line);
        if (value !== undefined) take(value);
      }),
    );
  }

  private alone(work: (journal: ClaimJournal) => Promise<void>): Promise<void> {
    const next = this.last.then(() => this.run(work));
    this.last = next.catch(() => undefined);
    return next;
  }

  private async run(work: (journal: ClaimJournal) => Promise<void>): Promise<void> {
    try {
      await work((this.journal ??= await ClaimJournal.open(this.path)));
    } catch (error) {
      const { journal } = this;
      this.journal = null;
      await journal?.close().catch(() => undefined);
      throw error;
    }
  }
}
