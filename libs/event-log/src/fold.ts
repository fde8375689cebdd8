// The fold: accepted records, in order, into rows. The loop, a replay and the specs of a core all use this one (L2, P10).
//
// Invariants
//   F1. A record is folded whole or not at all.
//   F2. Only records and rows that earlier records made are read: no view, no input, no key, no time.
import { InvariantViolation } from '@recourse/kernel';
import type { ParkedResolution, PayloadsRead, RecordParked } from '@recourse/messages';
import { Lacking, Lacks } from './lacks.js';
import type { Overlay } from './row-cache.js';
import type { AcceptedRecord, Change, Doc, KindSpec, Row, ServiceCore, StateView } from './service-core.js';
import { timeChanges, timeKind } from './stood-time.js';

// Kinds that every core has: the answer to each command, what is parked, who read payloads, and where time stood (L1, L9, L15). The loop
// writes their rows.

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

type OfChain = 'seq' | 'prev_hash' | 'decided_at';

/** Doc of a `parked` row. */
export type ParkedDoc = Omit<RecordParked, OfChain | 'value_sha256' | 'tenant'> & {
  /** Absent where nobody can read one, and in records from before it was told. */
  readonly tenant?: string;
  /** 64 hex digits. */
  readonly value_sha256: string;
  /** Place of the record that parked it first, and when that was decided, epoch milliseconds. */
  readonly parked_seq: number;
  readonly parked_at: number;
  readonly open: boolean;
  /** What became of it, by whom and why; absent while it is open. */
  readonly resolution?: ParkedResolution;
  readonly resolved_by?: string;
  readonly resolved_reason?: string;
};

/** Doc of a `reading` row. */
export type ReadingDoc = Omit<PayloadsRead, OfChain> & {
  /** Epoch milliseconds. */
  readonly read_at: number;
};

export const COMMAND_KIND = 'command';
export const PARKED_KIND = 'parked';
export const READING_KIND = 'reading';

const command: KindSpec = {
  kind: COMMAND_KIND,
  table: 'command',
  columns: [
    { name: 'command_id', type: 'text', of: (row) => textOf(row, 'command_id') },
    { name: 'status', type: 'text', of: (row) => textOf(row, 'status') },
  ],
  indexes: [['command_id']],
};

const parked: KindSpec = {
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

const reading: KindSpec = {
  kind: READING_KIND,
  table: 'reading',
  columns: [
    { name: 'tenant', type: 'text', of: (row) => textOf(row, 'tenant') },
    { name: 'reader', type: 'text', of: (row) => textOf(row, 'reader') },
  ],
  indexes: [['tenant', 'reader']],
};

const COMMON_KINDS: readonly KindSpec[] = [command, parked, reading, timeKind];

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

// Folding.

/** Changes of any record of a log: those every service has, and the core's own. Errors: Lacking. */
export function evolveAny(
  core: Pick<ServiceCore, 'evolve'>,
  state: StateView,
  record: AcceptedRecord,
): readonly Change[] {
  const shared = SHARED_CHANGES[record.type];
  return shared === undefined ? core.evolve(state, record) : shared(state, record);
}

/**
 * Folds records into `overlay` until one reads what is not in memory.
 *
 * Shape:  `folded` counts from the first record; `lacks` holds all that the rest of them seems to read, and for certain what
 *         the next one does. Call again with the rest once that is loaded.
 */
function foldSome(
  core: Pick<ServiceCore, 'evolve'>,
  overlay: Overlay,
  records: readonly AcceptedRecord[],
): { readonly folded: number; readonly lacks: Lacks } {
  const lacks = new Lacks();
  for (const [index, record] of records.entries()) {
    const mark = overlay.mark();
    try {
      overlay.apply(evolveAny(core, overlay, record));
    } catch (cause) {
      overlay.rollback(mark);
      if (!(cause instanceof Lacking)) throw cause;
      lacks.add(cause.lack);
      probeFold(core, overlay.probe(lacks), records.slice(index));
      return { folded: index, lacks };
    }
  }
  return { folded: records.length, lacks };
}

/** What a fold of many records asks of its caller. */
interface FoldWork<Record> {
  readonly load: (lacks: Lacks) => Promise<unknown>;
  /** Hears of each record once it is folded, in order. */
  readonly onFolded?: (record: Record) => void;
}

/** Folds all records, loading what the rest of them lacks each time one cannot go on. */
export async function foldAll<Record extends AcceptedRecord>(
  core: Pick<ServiceCore, 'evolve'>,
  overlay: Overlay,
  records: readonly Record[],
  { load, onFolded }: FoldWork<Record>,
): Promise<void> {
  for (let rest = records; rest.length > 0;) {
    const { folded, lacks } = foldSome(core, overlay, rest);
    for (const record of rest.slice(0, folded)) onFolded?.(record);
    rest = rest.slice(folded);
    if (rest.length > 0) await load(lacks);
  }
}

/** A fold over rows that are not there may object; then its groups are found when its turn comes. */
function probeFold(core: Pick<ServiceCore, 'evolve'>, probe: Overlay, records: readonly AcceptedRecord[]): void {
  for (const record of records) {
    try {
      probe.apply(evolveAny(core, probe, record));
    } catch {
      continue;
    }
  }
}

const NO_CHANGES = (): readonly Change[] => [];

/** What the records that every log may hold change. */
const SHARED_CHANGES: Readonly<
  Partial<Record<string, (state: StateView, record: AcceptedRecord) => readonly Change[]>>
> = {
  Progress: NO_CHANGES,
  ObligationResent: NO_CHANGES,
  CutAccepted: NO_CHANGES,
  WireLossAccepted: NO_CHANGES,
  TimeAccepted: (_, record) => timeChanges(record),
  RecordRedirected: NO_CHANGES,
  RecordsRefused: NO_CHANGES,
  RecordParked: parkedChanges,
  ParkedResolved: resolvedChanges,
  PayloadsRead: (_, record) => readingChanges(record),
  CommandAnswered: (_, record) => answeredChanges(record),
};

function answeredChanges({ body }: AcceptedRecord): readonly Change[] {
  const id = String(body.command_id);
  const doc = { ...body, body_sha256: (body.body_sha256 as Buffer).toString('hex') };
  return [{ op: 'put', row: { kind: COMMAND_KIND, group: id, key: id, dueAt: null, doc } }];
}

function readingChanges({ body, decidedAt }: AcceptedRecord): readonly Change[] {
  const id = String(body.reading_id);
  const { tenant, reader, roles, route, things, subjects, payload_count } = body;
  const doc = { reading_id: id, tenant, reader, roles, route, things, subjects, payload_count, read_at: decidedAt };
  return [{ op: 'put', row: { kind: READING_KIND, group: id, key: id, dueAt: null, doc } }];
}

/** Two rows: the record under its key, in order; and where to find it by id. What is parked already keeps its place. */
function parkedChanges(state: StateView, record: AcceptedRecord): readonly Change[] {
  const id = String(record.body.parked_id);
  const key = String(record.body.record_key);
  const { parked_seq = record.seq, parked_at = record.decidedAt } = state.get(PARKED_KIND, key, id) ?? {};
  const { tenant, ...said } = record.body;
  const doc = {
    ...said,
    // As rows were before anybody said so.
    ...(typeof tenant === 'string' ? { tenant } : {}),
    value_sha256: (record.body.value_sha256 as Buffer).toString('hex'),
    parked_seq,
    parked_at,
    open: true,
  };
  const index = { parked_id: id, record_key: key, index_of: id };
  return [
    { op: 'put', row: { kind: PARKED_KIND, group: key, key: id, dueAt: null, doc } },
    { op: 'put', row: { kind: PARKED_KIND, group: `#${id}`, key: id, dueAt: null, doc: index } },
  ];
}

function resolvedChanges(state: StateView, record: AcceptedRecord): readonly Change[] {
  const id = String(record.body.parked_id);
  const key = state.get(PARKED_KIND, `#${id}`, id)?.record_key;
  const doc = typeof key === 'string' ? state.get(PARKED_KIND, key, id) : undefined;
  if (doc === undefined || typeof key !== 'string')
    throw new InvariantViolation('parking', `${id} was resolved and never parked`, 'partition');
  const { resolution, by, reason } = record.body;
  return [
    {
      op: 'put',
      row: {
        kind: PARKED_KIND,
        group: key,
        key: id,
        dueAt: null,
        doc: { ...doc, open: false, resolution, resolved_by: by, resolved_reason: reason },
      },
    },
  ];
}
