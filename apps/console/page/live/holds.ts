// Windows that hold the page: a command of theirs is on its way, or its outcome has not been read.

export class Holds {
  #count = 0;
  #waiting: (() => void)[] = [];

  /** Answers how to let go again. */
  take(): () => void {
    this.#count += 1;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.#count -= 1;
      if (this.#count === 0) for (const go of this.#waiting.splice(0)) go();
    };
  }

  /** Resolves once nobody holds. */
  free(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** Those of this page. */
export const holds = new Holds();
