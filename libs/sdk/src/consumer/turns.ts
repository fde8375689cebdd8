// Turns of one process: an apply alone, derives together, each as it came. Who waits here holds no connection while it waits.

export class Turns {
  private alone: Promise<unknown> = Promise.resolve();
  private readonly together = new Set<Promise<unknown>>();

  /** Runs work when it is its turn. Errors: those of the work. */
  take<T>(kind: 'apply' | 'derive', work: () => Promise<T>): Promise<T> {
    const before = kind === 'apply' ? Promise.all([this.alone, ...this.together]) : this.alone;
    const done = before.then(work);
    const over = done.then(
      () => undefined,
      () => undefined,
    );
    if (kind === 'apply') this.alone = over;
    else {
      this.together.add(over);
      void over.then(() => this.together.delete(over));
    }
    return done;
  }
}
