// When the auditor signed last, as its log tells: an auditor that is gone says nothing itself.
//
// Boundary: reads the end of the log of heads when somebody asks; keeps nothing but where it stands.
import type { LogPosition, OwnLog } from '@recourse/event-log';

/** How far from the end the first question begins: alarms and what nobody signed stand between heads. */
const LOOK_BACK = 100;

export class NewestHeads {
  #position: LogPosition | null = null;
  #signedAt: number | null = null;
  #asking: Promise<number | null> | null = null;

  constructor(
    private readonly log: Pick<OwnLog, 'origin' | 'end' | 'positionBefore' | 'read' | 'position' | 'close'>,
  ) {}

  /** Epoch milliseconds by the auditor's clock; null where no heads stand near the end. Errors: those of the log. */
  signedAt(): Promise<number | null> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  close(): Promise<void> {
    return this.log.close();
  }

  async #ask(): Promise<number | null> {
    for await (const records of this.log.read(this.#position ?? (await this.#nearEnd())))
      for (const { type, decidedAt } of records) if (type === 'HeadsSigned') this.#signedAt = decidedAt;
    this.#position = this.log.position;
    return this.#signedAt;
  }

  async #nearEnd(): Promise<LogPosition> {
    const offset = (await this.log.end()) - LOOK_BACK;
    return offset <= 0 ? this.log.origin() : this.log.positionBefore(offset);
  }
}
