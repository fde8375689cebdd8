// Kinds that every core has: the answer to each command, what is parked, and who read payloads (L9, L15). The loop writes their rows.
import type { Doc, KindSpec, Row } from './service-core.js';

/** Doc of a `command` row; group and key are the command id. The caller's tenant is part of what the id is derived from. */
export interface CommandDoc {
  readonly command_id: string;
  /** 64 hex digits: the same id with another body is a conflict. */
  readonly body_sha256: string;
  readonly status: 'accepted' | 'rejected';
  readonly http_status: number;
  readonly code: string | null;
  /** JSON text the caller gets. */
  readonly answer: string;
}

export const COMMAND_KIND = 'command';
export const PARKED_KIND = 'parked';
export const READING_KIND = 'reading';

export const command: KindSpec = {
  kind: COMMAND_KIND,
  table: 'command',
  columns: [
    { name: 'command_id', type: 'text', of: (row) => textOf(row, 'command_id') },
    { name: 'status', type: 'text', of: (row) => textOf(row, 'status') },
  ],
  indexes: [['command_id']],
};

export const parked: KindSpec = {
  kind: PARKED_KIND,
  table: 'parked',
  columns: [
    { name: 'reason', type: 'text', of: (row) => textOf(row, 'reason') },
    { name: 'topic', type: 'text', of: (row) => textOf(row, 'topic') },
    { name: 'record_key', type: 'text', of: (row) => textOf(row, 'record_key') },
    // Null for the rows that only say where a parked id is found.
    { name: 'open', type: 'boolean', of: (row) => (typeof row.doc['open'] === 'boolean' ? row.doc['open'] : null) },
  ],
  indexes: [['open']],
};

export const reading: KindSpec = {
  kind: READING_KIND,
  table: 'reading',
  columns: [
    { name: 'tenant', type: 'text', of: (row) => textOf(row, 'tenant') },
    { name: 'reader', type: 'text', of: (row) => textOf(row, 'reader') },
  ],
  indexes: [['tenant', 'reader']],
};

export const COMMON_KINDS: readonly KindSpec[] = [command, parked, reading];

/** The kinds of a core with the common ones; a core that declares one of them itself keeps its own. */
export function withCommonKinds(kinds: readonly KindSpec[]): readonly KindSpec[] {
  const declared = new Set(kinds.map(({ kind }) => kind));
  return [...kinds, ...COMMON_KINDS.filter(({ kind }) => !declared.has(kind))];
}

function textOf(row: Row, name: keyof Doc): string | null {
  const value = row.doc[name];
  return typeof value === 'string' ? value : null;
}

/** A command that puts a reading on record. */
export const READING_COMMAND = 'RecordReading';
/** Commands about parked records and readings: every command wire may carry them, and the loop answers them itself. */
export const LOOP_COMMANDS: ReadonlySet<string> = new Set(['RedriveParked', 'DiscardParked', READING_COMMAND]);
