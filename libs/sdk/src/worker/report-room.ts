// Room in the report of a leg: a larger record is set aside by its reader, and what comes after it of the same run waits behind it (L7).
//
// Boundary: pure.
//
// Invariants
//   M1. What is seen of a leg fits its report. Of looks of one phase at one call the last counts: earlier ones make room for it.
//   M2. A further step is begun only where half a report is free for it. The rest of the leg is asked again, in a leg of its own.
import { excerpt, isTooDeep, JSON_DEPTH_MAX, WIRE_RECORD_BYTES_MAX } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { Observation, StepReport } from '@recourse/messages';
import { bytesAtMost } from '../producer/fitting.js';

/** Of an error's message as much is told, UTF-16 units; a person reads its beginning. */
const DETAIL_MAX = 4_000;
/** What a report holds beside what was seen: names of the leg, and the words and the handle of the step it ended at. Bytes. */
const FRAME_BYTES = 20_000;
const ROOM_BYTES = WIRE_RECORD_BYTES_MAX - FRAME_BYTES;

export class ReportRoom {
  #left = ROOM_BYTES;
  /** Of it, what was seen in the step under way. */
  #seen = 0;

  /** May a further step be begun? */
  isForStep(): boolean {
    return this.#left >= ROOM_BYTES / 2;
  }

  /**
   * Adds what was seen to `observations`, and drops what it replaces where it does not fit otherwise.
   *
   * Shape:  null where it was added; else how many bytes are free for it.
   */
  add(seen: Observation, observations: Observation[]): number | null {
    const bytes = bytesAtMost(seen);
    while (this.#seen + bytes > this.#left) {
      const replaced = observations.findIndex(({ phase }) => phase === seen.phase);
      const [dropped] = replaced === -1 ? [] : observations.splice(replaced, 1);
      if (dropped === undefined) return this.#left - this.#seen;
      this.#seen -= bytesAtMost(dropped);
    }
    observations.push(seen);
    this.#seen += bytes;
    return null;
  }

  /** A step has ended. */
  close(report: StepReport): void {
    this.#left -= bytesAtMost(report);
    this.#seen = 0;
  }
}

/** What is told of an error: its beginning, as a database takes it. */
export function wordsFor(detail: string | null): string | null {
  return detail === null ? null : excerpt(detail, DETAIL_MAX);
}

/** Why nobody could read an answer; null where it can be read. */
export function depthProblem(answer: Json): string | null {
  return isTooDeep(answer) ? `it nests deeper than the ${String(JSON_DEPTH_MAX)} levels that are read` : null;
}
