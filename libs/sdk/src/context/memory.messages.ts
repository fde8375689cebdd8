// Queries of a memory, and what became of them.

/** What somebody wants to read of a memory, and for which purpose. */
export interface MemoryQuery {
  readonly tenant: string;
  readonly agentId: string;
  readonly runId: string;
  readonly key: string;
  /** What it is wanted for. */
  readonly purpose: string;
}

/** Why an item of a memory is withheld. */
export type MemoryRefusalCode =
  | 'MEMORY_UNKNOWN'
  | 'CONSENT_MISSING'
  | 'SOURCE_UNKNOWN'
  | 'EVIDENCE_STALE'
  | 'SOURCES_UNAVAILABLE'
  | 'CONSENTS_UNAVAILABLE'
  | 'MEMORY_UNAVAILABLE'
  | 'LOG_UNAVAILABLE';

/** One line of the query log; never the value. `code` is null for what was read. */
export interface MemoryQueryRecord extends MemoryQuery {
  readonly code: MemoryRefusalCode | null;
  /** Epoch milliseconds. */
  readonly askedAt: number;
}
