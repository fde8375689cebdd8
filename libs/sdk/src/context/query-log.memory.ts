// Queries of a memory, in memory. For specs and first steps.
import type { MemoryQueryRecord } from './memory.messages.js';
import type { QueryLog } from './query-log.port.js';

/** Queries in memory: gone with the process. */
export class MemoryQueryLog implements QueryLog {
  private readonly kept: MemoryQueryRecord[] = [];

  append(record: MemoryQueryRecord): Promise<void> {
    this.kept.push(record);
    return Promise.resolve();
  }

  list(): Promise<readonly MemoryQueryRecord[]> {
    return Promise.resolve([...this.kept]);
  }
}
