// What a run left behind, read from offset 0 by the acceptance rule alone. Knows nothing of the loop.
import { ChainReader, genesisHead } from '@recourse/chain';
import { TOPICS } from '@recourse/messages';
import { KEY_HEADER } from '../speakers.js';
import { LOG_ID } from '../world.js';
import type { World } from '../world.js';

export interface LogRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  readonly type: string;
  // Fields are read by name, as a reader without our types would.
  readonly body: Fields;
  readonly seq: number;
  readonly hash: Buffer;
  readonly decidedAt: number;
  /** Place in the one order of everything that took effect. */
  readonly order: number;
}

export interface WireRecord {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly key: string;
  /** Null for bytes that are no record. */
  readonly type: string | null;
  readonly body: Fields;
  readonly order: number;
  /** Key that its sender named; null where wires are open. */
  readonly by: string | null;
}

/** Fields of a record, by name. */
export interface Fields {
  readonly [name: string]: unknown;
}

export interface Violation {
  readonly promise: string;
  readonly rule: string;
  readonly detail: string;
}

export interface History {
  readonly world: World;
  /** Accepted records by topic, in order of partition and seq. */
  readonly logs: Readonly<Record<string, readonly LogRecord[]>>;
  readonly wires: Readonly<Record<string, readonly WireRecord[]>>;
  readonly violations: Violation[];
}

export const text = (fields: Fields, name: string): string => String(fields[name]);
export const number = (fields: Fields, name: string): number => Number(fields[name]);
/** A nested record. */
export const nested = (fields: Fields, name: string): Fields => (fields[name] ?? {}) as Fields;
export const list = (fields: Fields, name: string): readonly Fields[] => (fields[name] ?? []) as readonly Fields[];
export const bytes = (fields: Fields, name: string): string => (fields[name] as Buffer | null)?.toString('hex') ?? '';

/** Reads everything. */
export function readHistory(world: World): History {
  const violations: Violation[] = [];
  const dump = world.broker.dump();
  const logs: Record<string, LogRecord[]> = {};
  const wires: Record<string, WireRecord[]> = {};
  for (const { name, kind } of TOPICS) {
    const partitions = dump[name] ?? [];
    if (kind === 'wire')
      wires[name] = partitions.flatMap((records, partition) =>
        records.map((record) => wireRecord(world, name, partition, record)),
      );
    else
      logs[name] = partitions.flatMap((records, partition) =>
        readLog(world, name, partition, partitions.length, records),
      );
  }
  return { world, logs, wires, violations };
}

type Fetched = ReturnType<World['broker']['dump']>[string][number][number];

/** What a member says by its place: terms among those of its record, and the root of the evidence, or cause, of all. */
function ownOf(body: Fields, { contract, root }: Fields): Fields {
  const terms =
    contract === undefined ? {} : { terms: contract === null ? null : list(body, 'contracts')[Number(contract)] };
  if (root === undefined) return terms;
  const why = body['caused_by'] === undefined ? 'evidence' : 'caused_by';
  return { ...terms, [why]: { ...nested(body, why), root } };
}

function readLog(
  world: World,
  topic: string,
  partition: number,
  partitionCount: number,
  records: readonly Fetched[],
): readonly LogRecord[] {
  const chain = new ChainReader(
    genesisHead({ logId: LOG_ID, topic, partition, partitionCount }),
    world.codecs.fingerprintOf,
  );
  const found: LogRecord[] = [];
  for (const record of records) {
    const verdict = chain.read(record);
    if (verdict.kind !== 'accepted') continue;
    const decoded = world.codecs.decodeSync(record.value);
    if (decoded.kind !== 'decoded')
      throw new Error(`${topic}/${String(partition)}@${String(record.offset)} is ${decoded.kind}`);
    const body = decoded.body as Fields; // a decoded record is an object
    found.push({
      topic,
      partition,
      offset: record.offset,
      key: record.key?.toString('utf8') ?? '',
      type: decoded.type,
      body,
      seq: verdict.head.seq,
      hash: verdict.head.hash,
      decidedAt: number(body, 'decided_at'),
      order: record.timestamp,
    });
  }
  return found;
}

function wireRecord(world: World, topic: string, partition: number, record: Fetched): WireRecord {
  const decoded = world.codecs.decodeSync(record.value);
  const isRecord = decoded.kind === 'decoded';
  return {
    topic,
    partition,
    offset: record.offset,
    key: record.key?.toString('utf8') ?? '',
    type: isRecord ? decoded.type : null,
    body: isRecord ? (decoded.body as Fields) : {},
    order: record.timestamp, // a decoded record is an object
    by: record.headers[KEY_HEADER]?.toString('latin1') ?? null,
  };
}

/** Records of some types; one that has members is one record for each of them. */
export function ofType(history: History, topic: string, ...types: readonly string[]): readonly LogRecord[] {
  return (history.logs[topic] ?? []).filter(({ type }) => types.includes(type)).flatMap(eachMember);
}

/** What a record says of each of its members, in their order; itself where it has none. */
export function eachMember(record: LogRecord): readonly LogRecord[] {
  const { members, others, ...common } = record.body;
  if (others !== undefined && list(record.body, 'others').length > 0) return besideOthers(record, common);
  if (members === undefined) return [record];
  return list(record.body, 'members').map((member, index) => {
    const step = member['step'] === undefined ? {} : nested(member, 'step');
    return { ...record, body: { ...common, ...step, ...member, ...ownOf(record.body, member), member_index: index } };
  });
}

/** What a record says on top is its first member; others say the root of their fall beside it. */
function besideOthers(record: LogRecord, first: Fields): readonly LogRecord[] {
  const evidence = nested(first, 'evidence');
  const others = list(record.body, 'others').map(({ root, ...other }) => ({
    ...first,
    ...other,
    evidence: { ...evidence, root },
  }));
  return [first, ...others].map((says, member_index) => ({ ...record, body: { ...says, member_index } }));
}

export function wireOf(history: History, topic: string, ...types: readonly string[]): readonly WireRecord[] {
  return (history.wires[topic] ?? []).filter(({ type }) => type !== null && types.includes(type));
}

/** Says that a promise is broken. */
export function broken(history: History, promise: string, rule: string, detail: string): void {
  history.violations.push({ promise, rule, detail });
}

/** Keys something stands parked under: what follows under them waits for a person. */
export function parkedKeys(history: History): ReadonlySet<string> {
  return new Set(
    ['recourse.mutations', 'recourse.recoveries'].flatMap((log) =>
      ofType(history, log, 'RecordParked').map(({ key }) => key),
    ),
  );
}

export function groupBy<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, readonly T[]> {
  return Map.groupBy(items, key);
}

/** Records that say what evidence does to a commit it reaches, each once: the mark of what was remembered or held says it again. */
export function hitsOf(history: History): readonly LogRecord[] {
  const known = new Set<string>();
  return ofType(history, 'recourse.mutations', ...FALLEN, 'TriggerHeld', 'CommitBeyondBound', 'Reattached').filter(
    (record) => {
      const evidence = nested(record.body, 'evidence');
      if (evidence['ref'] === null) return true;
      const id = `${subjectOf(record.body)} ${text(evidence, 'ref')} ${text(evidence, 'position')}`;
      const isSaid = isSecond(record) && known.has(id);
      known.add(id);
      return !isSaid;
    },
  );
}

/** Records by which a commit falls, or would if it had not. */
export const FALLEN: readonly string[] = [
  'MutationsFell',
  'CheckpointRolledBack',
  'TriggerUnmatched',
  'TriggerRedundant',
];

/** What was remembered is marked, what was held is let go or held for something else. */
function isSecond({ type }: LogRecord): boolean {
  return type !== 'TriggerRedundant' && type !== 'CommitBeyondBound' && type !== 'Reattached';
}

/** The commit a record is about, with an effect or without. */
export function subjectOf(body: Fields): string {
  return text(body, body['mutation_id'] === undefined ? 'commit_id' : 'mutation_id');
}
