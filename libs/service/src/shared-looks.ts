// Lets many who ask for the same thing at once share one look at it.
//
// Invariants
//   K1. Of each thing one look runs at a time; whatever its end, it is over for those alone who share it.
//   K2. Nobody is answered by a look that began before they asked: it may have missed what they wrote since. They share the next one.

type Look<Answer> = () => Promise<Answer>;

export class SharedLooks<Answer> {
  private readonly running = new Map<string, Promise<Answer>>();
  private readonly waiting = new Map<string, Promise<Answer>>();

  /** Answers with a look that begins at once, or once the one that runs has ended: two looks are the longest wait. Errors: those of the look that answers. */
  of(thing: string, look: Look<Answer>): Promise<Answer> {
    const waiting = this.waiting.get(thing);
    if (waiting) return waiting;
    const running = this.running.get(thing);
    return running ? this.behind(running, thing, look) : this.begin(thing, look);
  }

  private behind(running: Promise<Answer>, thing: string, look: Look<Answer>): Promise<Answer> {
    const begin = (): Promise<Answer> => {
      this.waiting.delete(thing);
      return this.begin(thing, look);
    };
    const next = running.then(begin, begin);
    this.waiting.set(thing, next);
    return next;
  }

  private begin(thing: string, look: Look<Answer>): Promise<Answer> {
    const running = look();
    this.running.set(thing, running);
    const over = (): void => {
      this.running.delete(thing);
    };
    // Heard before whoever waits behind it begins.
    void running.then(over, over);
    return running;
  }
}
