// Queries of a memory as lines of one file, for the processes of one host.
import { join } from 'node:path';
import { JsonLines } from '../stores/json-lines.js';
import type { MemoryQueryRecord } from './memory.messages.js';
import type { QueryLog } from './query-log.port.js';

const FILE = 'memory-queries.jsonl';

/** Queries of one host, each on disk before its memory is read out. */
export class FileQueryLog implements QueryLog {
  private readonly path: string;
  private readonly lines: JsonLines;

  constructor(directory: string) {
    this.path = join(directory, FILE);
    this.lines = new JsonLines(this.path);
  }

  append({ tenant, agentId, runId, key, purpose, code, askedAt }: MemoryQueryRecord): Promise<void> {
    return this.lines.append({ tenant, agentId, runId, key, purpose, code, askedAt });
  }

  /** Reads the file from its start. */
  async list(): Promise<readonly MemoryQueryRecord[]> {
    const kept: MemoryQueryRecord[] = [];
    await new JsonLines(this.path).readOn((line) => {
      if (typeof line === 'object' && line !== null && 'askedAt' in line) kept.push(line as MemoryQueryRecord); // append() alone writes such lines
    });
    return kept;
  }
}
