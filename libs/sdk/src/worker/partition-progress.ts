// How far the requests of one partition are answered, when answers come in any order.

/** Offsets taken and answered; the position is the lowest offset that is not answered. */
export class PartitionProgress {
  private readonly open = new Set<number>();

  /** `next` is the offset the next batch starts at. */
  constructor(public next: number) {}

  take(offset: number): void {
    this.open.add(offset);
    this.next = offset + 1;
  }

  answer(offset: number): void {
    this.open.delete(offset);
  }

  get position(): number {
    return this.open.size === 0 ? this.next : Math.min(...this.open);
  }
}
