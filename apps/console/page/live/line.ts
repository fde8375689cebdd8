// One stream of events for all pages of a browser: one page holds it, and tells the others what it hears.
//
// A browser has six connections to a host for all its pages together, and a stream keeps one for good: with six of them no page had
// one left, for a command either.
//
// Invariants
//   T1. Of the pages of a browser one holds the stream. Once it closes, or is silent and answers nobody, another takes it.
//   T2. A page hears of all that moved since its position: who takes the stream goes on where it was heard last, and a page that
//       was told less, or did not listen, reads everything again.
//   T3. Who is not signed in any more is told, and asks no more.
import * as z from 'zod/mini';
import { EDGES } from '../api/clients.js';
import type { EdgeName } from '../api/clients.js';
import { ENDS, endOf } from './ends.js';
import type { End, Who } from './ends.js';

export interface Source {
  close(): void;
}

/** What a stream of events calls. */
export interface SourceHears {
  readonly onBeat: () => void;
  /** `at` is the position that it brings a page to. */
  readonly onMoved: (data: unknown, at: string) => void;
  readonly onEnded: (data: unknown) => void;
  /** `isOver`: it does not try again by itself. */
  readonly onFailed: (isOver: boolean) => void;
}

export interface LineParts {
  /** Opens a stream that goes on at a position; empty where there is none. */
  readonly stream: (at: string, hears: SourceHears) => Source;
  /** Calls once no other page has the line, or takes it from the one that has; it is had until what is called resolves. Errors: when another page took it. */
  readonly turn: (hold: () => Promise<void>, isTaken: boolean) => Promise<void>;
  /** Tells the other pages. */
  readonly tell: (said: unknown) => void;
  readonly who: () => Promise<Who>;
  /** Answers how to call it off. */
  readonly after: (ms: number, run: () => void) => () => void;
}

export interface LineHears {
  readonly onHeard: (moved: readonly EdgeName[], away: readonly EdgeName[]) => void;
  readonly onLost: () => void;
  readonly onEnded: (by: End) => void;
}

/** The server beats every 5 s; whoever hears nothing for this long has lost the stream, whatever the browser says. */
const SILENT_MS = 12_000;
/** The page that holds the stream answers within. */
const ANSWER_MS = 2_000;
const AGAIN_MS = 1_000;

const NAMES = z.array(z.enum(EDGES));
const MOVED = z.object({ moved: NAMES, away: NAMES });
const SAID = z.discriminatedUnion('says', [
  z.object({ says: z.literal('hello') }),
  /** `was` and `at` are the positions before and after it. */
  z.object({ says: z.literal('heard'), was: z.string(), at: z.string(), moved: NAMES, away: NAMES }),
  z.object({ says: z.literal('lost') }),
  z.object({ says: z.literal('ended'), by: z.enum(ENDS) }),
]);
type Said = z.infer<typeof SAID>;

export class Line {
  #isOpen = false;
  #isLost = false;
  /** Everything has to be read again: what moved meanwhile, and what failed. */
  #isBehind = false;
  #hasHeard = false;
  #away: readonly EdgeName[] = [];
  #source: Source | null = null;
  /** Ends the turn of this page; null where another has the line. */
  #letGo: (() => void) | null = null;
  #callOff: () => void = () => undefined;

  constructor(
    private at: string,
    private readonly parts: LineParts,
    private readonly hears: LineHears,
  ) {}

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    this.#tell({ says: 'hello' });
    this.#listen();
    void this.#wait(false);
  }

  close(): void {
    this.#isOpen = false;
    this.#drop();
    this.#callOff();
  }

  /** Tells the other pages that the session is over. */
  tellEnded(by: End): void {
    this.#tell({ says: 'ended', by });
  }

  /** Hears what another page says. */
  hear(data: unknown): void {
    const said = SAID.safeParse(data).data;
    if (said === undefined) return; // of another version
    if (said.says === 'hello') this.#answer();
    else if (said.says === 'ended') this.#end(said.by);
    else if (this.#letGo === null) this.#follow(said);
  }

  #follow(said: Exclude<Said, { readonly says: 'hello' | 'ended' }>): void {
    if (this.#isOpen) this.#listen();
    if (said.says === 'lost') {
      this.#lose();
      return;
    }
    const isBehind = said.was !== this.at;
    // Who does not listen yet, or no more, makes nothing of what moved: it is behind once it does.
    if (this.#isOpen) this.at = said.at;
    this.#take(isBehind ? EDGES : said.moved, said.away);
  }

  /** Waits for what the page that holds the stream says; where it answers nothing either, takes the stream. */
  #listen(): void {
    this.#set(SILENT_MS, () => {
      this.#lose();
      this.#set(ANSWER_MS, () => void this.#wait(true));
      this.#tell({ says: 'hello' });
    });
  }

  #answer(): void {
    if (this.#source === null) return;
    if (this.#isLost) this.#tell({ says: 'lost' });
    else if (this.#hasHeard) this.#tell({ says: 'heard', was: this.at, at: this.at, moved: [], away: [...this.#away] });
  }

  async #wait(isTaken: boolean): Promise<void> {
    try {
      await this.parts.turn(() => this.#hold(), isTaken);
    } catch {
      // Another page took it, since this one was silent; or this page is being left.
      const held = this.#letGo !== null;
      this.#drop();
      if (!held || !this.#isOpen) return;
      this.#listen();
      void this.#wait(false);
    }
  }

  #hold(): Promise<void> {
    if (!this.#isOpen || this.#letGo !== null) return Promise.resolve();
    return new Promise((resolve) => {
      this.#letGo = resolve;
      this.#connect();
    });
  }

  #drop(): void {
    this.#source?.close();
    this.#source = null;
    this.#letGo?.();
    this.#letGo = null;
  }

  #connect(): void {
    this.#callOff();
    this.#source = this.parts.stream(this.at, {
      onBeat: () => {
        this.#heard(this.at, [], this.#away);
      },
      onMoved: (data, at) => {
        const read = MOVED.safeParse(data).data;
        if (read !== undefined) this.#heard(at, read.moved, read.away);
      },
      onEnded: (data) => {
        const by = endOf(data);
        this.#tell({ says: 'ended', by });
        this.#end(by);
      },
      onFailed: (isOver) => {
        this.#failed();
        if (isOver) this.#set(AGAIN_MS, () => void this.#again());
      },
    });
  }

  #heard(at: string, moved: readonly EdgeName[], away: readonly EdgeName[]): void {
    this.#set(SILENT_MS, () => {
      this.#failed();
      void this.#again();
    });
    const all = this.#isBehind ? EDGES : moved;
    this.#isBehind = false;
    this.#tell({ says: 'heard', was: this.at, at, moved: [...all], away: [...away] });
    this.at = at;
    this.#take(all, away);
  }

  #failed(): void {
    if (!this.#isLost) this.#tell({ says: 'lost' });
    this.#lose();
  }

  /** A browser gives up where the answer is no stream: the session ended, or the console restarts. Which, the session says. */
  async #again(): Promise<void> {
    this.#source?.close();
    this.#isBehind = true;
    const turn = this.#letGo;
    const who = await this.parts.who();
    if (turn === null || this.#letGo !== turn) return;
    if (who === 'same') this.#connect();
    else if (who === 'unknown') this.#set(AGAIN_MS, () => void this.#again());
    else {
      const by = who === 'nobody' ? 'lost' : 'sign-in';
      this.#tell({ says: 'ended', by });
      this.#end(by);
    }
  }

  #end(by: End): void {
    this.close();
    this.hears.onEnded(by);
  }

  #take(moved: readonly EdgeName[], away: readonly EdgeName[]): void {
    this.#hasHeard = true;
    this.#isLost = false;
    this.#away = away;
    this.hears.onHeard(moved, away);
  }

  #lose(): void {
    this.#isLost = true;
    this.hears.onLost();
  }

  #set(ms: number, run: () => void): void {
    this.#callOff();
    this.#callOff = this.parts.after(ms, run);
  }

  #tell(said: Said): void {
    this.parts.tell(said);
  }
}
