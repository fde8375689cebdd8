// When the auditor signed last, and when each log, as its own log tells: an auditor that is gone says nothing itself.
//
// Boundary: reads the end of the log of heads when somebody asks; keeps nothing but where it stands and one instant a partition.
import { parseHeadText, parseNote } from '@recourse/audit';
import type { AcceptedRecord, LogPosition, OwnLog } from '@recourse/event-log';
import type { BodyOf } from '@recourse/messages';

/** How far from the end the first question begins: alarms and what nobody signed stand between heads. */
const LOOK_BACK = 100;

/** When a log or wire was signed last. */
export interface SignedPlace {
  readonly log: string;
  readonly partition: number;
  /** Epoch milliseconds by the auditor's clock, and where that is ahead by one's own as the head was seen first. */
  readonly at: number;
}

export class NewestHeads {
  #position: LogPosition | null = null;
  #signedAt: number | null = null;
  readonly #places = new Map<string, SignedPlace>();
  #asking: Promise<void> | null = null;

  constructor(
    private readonly log: Pick<OwnLog, 'origin' | 'end' | 'positionBefore' | 'read' | 'position' | 'close'>,
    private readonly now: () => number,
  ) {}

  /** Epoch milliseconds by the auditor's clock; null where no heads stand near the end. Errors: those of the log. */
  async signedAt(): Promise<number | null> {
    await this.#readOn();
    return this.#signedAt;
  }

  /** Every partition of which a head stands near the end, or behind it since. Errors: those of the log. */
  async places(): Promise<readonly SignedPlace[]> {
    await this.#readOn();
    return [...this.#places.values()];
  }

  close(): Promise<void> {
    return this.log.close();
  }

  #readOn(): Promise<void> {
    this.#asking ??= this.#read().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  async #read(): Promise<void> {
    for await (const records of this.log.read(this.#position ?? (await this.#nearEnd())))
      for (const record of records) if (record.type === 'HeadsSigned') this.#take(record);
    this.#position = this.log.position;
  }

  #take({ decidedAt, body }: AcceptedRecord): void {
    this.#signedAt = decidedAt;
    // A head of the future says no more of when it was signed than that it is there.
    const at = Math.min(decidedAt, this.now());
    const { heads } = body as BodyOf<'recourse.signed-heads', 'HeadsSigned'>; // of its type, as the codec read it
    for (const { topic: log, partition, note } of heads)
      this.#places.set(`${log}/${partition}`, { log, partition, at: Math.min(at, saidIn(note) ?? at) });
  }

  async #nearEnd(): Promise<LogPosition> {
    const offset = (await this.log.end()) - LOOK_BACK;
    return offset <= 0 ? this.log.origin() : this.log.positionBefore(offset);
  }
}

/** When a head says that it was signed: one that a witness signed later is published again. */
function saidIn(note: string): number | null {
  return parseHeadText(parseNote(note)?.text ?? '')?.signedAt ?? null;
}
