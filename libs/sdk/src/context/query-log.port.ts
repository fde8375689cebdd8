// Who asked a memory for what, and what became of it.
import type { MemoryQueryRecord } from './memory.messages.js';

/**
 * Keeps the queries of a memory.
 *
 * Implementations MUST have a record on disk before `append` resolves, and MUST throw where they cannot. They MUST give records in
 * the order they were appended, and MUST NOT keep anything else: no value is ever told to them.
 */
export interface QueryLog {
  append(record: MemoryQueryRecord): Promise<void>;
  list(): Promise<readonly MemoryQueryRecord[]>;
}
