// Keeps promises, so that a burst of cold look-ups makes one request. A failed one is forgotten.

export class PromiseCache<Value> {
  private readonly kept = new Map<string, Promise<Value>>();

  /** `make` may hand over a value by `keep` even after its promise has failed: a late answer is as good as a timely one. */
  get(key: string, make: (keep: (value: Value) => void) => Promise<Value>): Promise<Value> {
    const known = this.kept.get(key);
    if (known) return known;
    const made = make((value) => {
      if (!this.kept.has(key)) this.kept.set(key, Promise.resolve(value));
    });
    this.kept.set(key, made);
    made.catch(() => {
      if (this.kept.get(key) === made) this.kept.delete(key);
    });
    return made;
  }
}
