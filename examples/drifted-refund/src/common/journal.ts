// State that survives kill -9: events in an append-only file, forced to disk before anybody is told.
//
// Grammar:
//   journal = *( event LF )     ; event is JSON on one line; a last line without LF was never acknowledged
//
// Invariants
//   I1. A transaction's answer is given after its events are on disk.
//   I2. Transactions run one after the other, so each decides on the state all earlier ones left.
import { mkdir, open, readFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface JournalSpec<State, Event> {
  readonly path: string;
  readonly initial: State;
  readonly evolve: (state: State, event: Event) => State;
}

/** What a transaction writes and what it answers. */
export interface Transaction<Event, Answer> {
  readonly events: readonly Event[];
  readonly answer: Answer;
}

export class Journal<State, Event> {
  private queue: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly file: FileHandle,
    private current: State,
    private readonly evolve: JournalSpec<State, Event>['evolve'],
  ) {}

  /** Opens a journal and folds what it holds; a torn last line is cut off. */
  static async open<State, Event>({
    path,
    initial,
    evolve,
  }: JournalSpec<State, Event>): Promise<Journal<State, Event>> {
    await mkdir(dirname(path), { recursive: true });
    const bytes = await readFile(path).catch((error: unknown) => {
      if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT')
        return Buffer.alloc(0);
      throw error;
    });
    const end = bytes.lastIndexOf(0x0a) + 1;
    const lines = bytes
      .subarray(0, end)
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '');
    const file = await open(path, 'a');
    await file.truncate(end);
    // Every line was written by `transact`, from an Event.
    const state = lines.map((line) => JSON.parse(line) as Event).reduce(evolve, initial);
    return new Journal(file, state, evolve);
  }

  get state(): State {
    return this.current;
  }

  /** Decides on the state, makes the events durable, then answers. */
  transact<Answer>(decide: (state: State) => Transaction<Event, Answer>): Promise<Answer> {
    const turn = this.queue.then(async () => {
      const { events, answer } = decide(this.current);
      if (events.length > 0) {
        await this.file.appendFile(events.map((event) => `${JSON.stringify(event)}\n`).join(''));
        await this.file.datasync();
        this.current = events.reduce(this.evolve, this.current);
      }
      return answer;
    });
    this.queue = turn.catch(() => undefined);
    return turn;
  }

  /** One event, whatever the state. */
  record(event: Event): Promise<void> {
    return this.transact(() => ({ events: [event], answer: undefined }));
  }

  async close(): Promise<void> {
    await this.queue;
    await this.file.close();
  }
}
