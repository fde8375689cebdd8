// Keeps promises, so that a burst of cold look-ups makes one request. A failed one is forgotten.

export class PromiseCache<Value> {
  private readonly kept = new Map<string, Promise<Value>>();

  get(key: string, make: () => Promise<Value>): Promise<Value> {
    const known = this.kept.get(key);
    if (known) return known;
    const made = make();
    this.kept.set(key, made);
    made.catch(() => { if (this.kept.get(key) === made) this.kept.delete(key); });
    return made;
  }
}
