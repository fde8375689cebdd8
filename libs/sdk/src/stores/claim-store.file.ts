// Claims as lines of one journal, for the worker processes of one host: whose line comes first has the claim.
//
// Boundary: the directory lies on a disk of this host. File systems over the network do not append as a whole.
//
// Invariants
//   I1. The journal decides: the first line of a claim is its grant, whoever wrote it. All that comes before a line is there when
//       the line is, and nothing comes in between later (J1), so that all processes read the same first line.
//   I2. A grant is answered once its line was forced to disk and then read back as the first of its claim.
//   I3. One write and one force at a time; claims made meanwhile share the next, so a claim waits for two at most.
//   I4. A crash between write and answer leaves the claim taken, or not made: nothing runs twice. A line that was torn is no claim,
//       and nobody was granted it.
//   I5. After an error nobody who waited has a grant; the journal is opened anew, and what was known as taken stays so.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Claim, ClaimStore } from './claim-store.port.js';
import { ClaimJournal } from './claim-journal.js';

const JOURNAL = 'claims.jsonl';

/** A claim that waits for the disk. */
interface Waiting {
  readonly key: string;
  /** Tells this line from others of the same claim. */
  readonly mark: string;
  readonly line: string;
  readonly answer: PromiseWithResolvers<'granted' | 'taken'>;
}

/** Claims of one host, durable before they are granted. It keeps every claim in memory too, about 100 bytes each. */
export class FileClaimStore implements ClaimStore {
  private readonly taken = new Set<string>();
  private readonly origin = randomUUID();
  private readonly path: string;
  private waiting: Waiting[] = [];
  private journal: ClaimJournal | null = null;
  private isWriting = false;
  private count = 0;

  constructor(directory: string) {
    this.path = join(directory, JOURNAL);
  }

  claim({ id, attempt, workerId }: Claim): Promise<'granted' | 'taken'> {
    const key = keyOf(id, attempt);
    if (this.taken.has(key)) return Promise.resolve('taken');
    this.count += 1;
    const mark = `${this.origin}/${String(this.count)}`;
    const answer = Promise.withResolvers<'granted' | 'taken'>();
    this.waiting.push({ key, mark, line: JSON.stringify([id, attempt, workerId, mark]), answer });
    if (!this.isWriting) void this.writeAll();
    return answer.promise;
  }

  private async writeAll(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const batch = this.waiting;
      this.waiting = [];
      try {
        const granted = await this.commit(batch);
        for (const { mark, answer } of batch) answer.resolve(granted.has(mark) ? 'granted' : 'taken');
      } catch (error) {
        await this.letGo();
        for (const { answer } of batch) answer.reject(error);
      }
    }
    this.isWriting = false;
  }

  /** Writes the claims that nobody is known to have; the marks of those that came first. */
  private async commit(batch: readonly Waiting[]): Promise<ReadonlySet<string>> {
    const journal = (this.journal ??= await this.open());
    const lines = batch.filter(({ key }) => !this.taken.has(key)).map(({ line }) => line);
    if (lines.length > 0) await journal.append(lines);
    return this.readOn(journal);
  }

  private async open(): Promise<ClaimJournal> {
    const journal = await ClaimJournal.open(this.path);
    await this.readOn(journal);
    return journal;
  }

  /** Takes up what came since; the marks of lines that are the first of their claim. */
  private async readOn(journal: ClaimJournal): Promise<ReadonlySet<string>> {
    const first = new Set<string>();
    await journal.readOn((line) => {
      const found = claimIn(line);
      if (found === null || this.taken.has(found.key)) return;
      this.taken.add(found.key);
      first.add(found.mark);
    });
    return first;
  }

  private async letGo(): Promise<void> {
    const { journal } = this;
    this.journal = null;
    await journal?.close().catch(() => undefined);
  }
}

const keyOf = (id: string, attempt: number): string => JSON.stringify([id, attempt]);

/** The claim a line makes; null when it is torn: no part of a list is a list. */
function claimIn(line: string): { readonly key: string; readonly mark: string } | null {
  try {
    const [id, attempt, , mark] = JSON.parse(line) as readonly unknown[]; // a line that is no list throws
    const isWhole = typeof id === 'string' && typeof attempt === 'number' && typeof mark === 'string';
    return isWhole ? { key: keyOf(id, attempt), mark } : null;
  } catch {
    return null;
  }
}
