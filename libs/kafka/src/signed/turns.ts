// Turns of the event loop: who judges much leaves room for everybody else in between.

/** So many records are judged in one turn, over all partitions: with a signature each, that takes a thirtieth of a second. */
const JUDGED_MAX = 500;

export class Turns {
  #left: number;
  #next: Promise<void> | null = null;

  constructor(private readonly most = JUDGED_MAX) {
    this.#left = most;
  }

  /** Is there room for all of them in this turn? Takes it. */
  takes(wanted: number): boolean {
    if (wanted > this.#left) return false;
    this.#left -= wanted;
    return true;
  }

  /** Resolves once some more may be judged in this turn; answers how many of those that are wanted. */
  async room(wanted: number): Promise<number> {
    while (this.#left <= 0) await this.#turn();
    const given = Math.min(wanted, this.#left);
    this.#left -= given;
    return given;
  }

  #turn(): Promise<void> {
    this.#next ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#next = null;
        this.#left = this.most;
        resolve();
      });
    });
    return this.#next;
  }
}
