// Which records of a log are news to a process: each once, however often it is read, and none that lay there before the process began.
//
// A tail is read at every taking over, and a view from the start of its log: who counts what was met counts the same record again and
// again, and an alert on it fires at each restart, for good.
//
// Boundary: remembers one offset a partition. When a record came is its broker's word (LogAppendTime), which no producer sets.
import type { StampedOffset } from '@recourse/kafka';

export class FirstMet {
  readonly #told = new Map<string, number>();

  /** @param since when the process began, epoch milliseconds */
  constructor(private readonly since: number) {}

  /** How many of the records are news; offsets ascend. */
  countOf(log: string, partition: number, records: readonly StampedOffset[]): number {
    const id = `${log}/${String(partition)}`;
    const told = this.#told.get(id) ?? -1;
    const news = records.filter(({ offset, timestamp }) => offset > told && timestamp >= this.since);
    this.#told.set(id, news.at(-1)?.offset ?? told);
    return news.length;
  }
}
