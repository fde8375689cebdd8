// Which heads of the auditor's file its log lacks: both are read once, side by side, since each has the heads of a tree in the order in
// which they were signed.
//
// Boundary: keeps no more than what one of the two is ahead of the other by; a file of years fits no memory.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { originOf, parseNote, readSignedHead } from '@recourse/audit';
import type { NoteKey, SignedHead } from '@recourse/audit';

/** Heads of the file that wait for the log, before the file waits for it: what was lost of one tree holds up no other. */
const WAITING_MAX = 1_000;
/** Notes that are read and verified before others have their turn. */
const NOTES_AT_ONCE = 500;

export interface KeptHeadsOptions {
  /** Notes of the file, oldest first. */
  readonly notes: Iterator<string>;
  readonly keys: readonly NoteKey[];
  readonly onLost: (head: SignedHead) => void;
}

/** What is read of one tree and not compared yet: of one of the two at the most. */
interface Ahead {
  readonly inLog: SignedHead[];
  readonly inFile: SignedHead[];
  newest: SignedHead | null;
}

export class KeptHeads {
  readonly #trees = new Map<string, Ahead>();
  #waiting = 0;
  #isLogOver = false;
  #isFileOver = false;

  constructor(private readonly options: KeptHeadsOptions) {}

  /** The log goes on with this head. */
  stands(head: SignedHead): void {
    const ahead = this.#aheadOf(head);
    if (this.#isFileOver && ahead.inFile.length === 0) return;
    ahead.inLog.push(head);
    this.#compare(ahead);
    this.#readFile();
  }

  /** The log is at its end: what the file has beyond it is lost. */
  async end(): Promise<void> {
    this.#isLogOver = true;
    for (const ahead of this.#trees.values()) this.#compare(ahead);
    for (let count = 1; !this.#isFileOver; count += 1) {
      this.#readNote();
      if (count % NOTES_AT_ONCE === 0) await nextTurn();
    }
  }

  #readFile(): void {
    while (!this.#isFileOver && this.#waiting < WAITING_MAX) this.#readNote();
  }

  #readNote(): void {
    const next = this.options.notes.next();
    const head = next.done === true ? null : readSignedHead(next.value, this.options.keys);
    if (head !== null) this.#wait(head);
    this.#isFileOver = next.done === true;
  }

  #wait(head: SignedHead): void {
    const ahead = this.#aheadOf(head);
    // What the file says twice, or behind what came later, was compared.
    if (ahead.newest !== null && (ahead.newest.size > head.size || ahead.newest.note === head.note)) return;
    ahead.newest = head;
    ahead.inFile.push(head);
    this.#waiting += 1;
    this.#compare(ahead);
  }

  #compare({ inLog, inFile }: Ahead): void {
    for (let kept = inFile[0]; kept !== undefined; kept = inFile[0]) {
      const [standing] = inLog;
      if (standing === undefined && !this.#isLogOver) return;
      const isSame = standing?.note === kept.note;
      const isFileBehind =
        standing !== undefined && !isSame && (standing.size < kept.size || saysTheSame(standing, kept));
      if (isSame || isFileBehind) inLog.shift();
      if (isFileBehind) continue;
      inFile.shift();
      this.#waiting -= 1;
      if (!isSame) this.options.onLost(kept);
    }
  }

  #aheadOf(head: SignedHead): Ahead {
    const origin = originOf(head);
    const known = this.#trees.get(origin);
    if (known !== undefined) return known;
    const made: Ahead = { inLog: [], inFile: [], newest: null };
    this.#trees.set(origin, made);
    return made;
  }
}

/** One head with the signatures of others, as it is published again once a witness has signed it: the file may lack the first. */
function saysTheSame(one: SignedHead, other: SignedHead): boolean {
  return textOf(one) === textOf(other);
}

const textOf = ({ note }: SignedHead): string | undefined => parseNote(note)?.text;
