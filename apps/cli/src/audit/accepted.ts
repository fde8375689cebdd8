// The accepted records of logs with their places: what everything that tells of the past is read from.
//
// Boundary: reads a dump, or logs on Kafka. Their chains are verified as they are read, and one that is not sound is refused: what lies
// behind a break would be left out in silence. That nothing is gone shows `audit verify` with heads, not this.
import { ChainReader, genesisHead } from '@recourse/chain';
import type { GenesisOf, StoredRecord } from '@recourse/chain';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { CliProblem } from '../problem.js';
import { missingIn } from './dump.js';
import { loadedCodecs } from './dump-file.js';
import { logsIn } from './dump-logs.js';
import { refusing, signedRecordsIn } from './dump-signed.js';
import type { ReadDump } from './dump-signed.js';
import { PartitionAudit } from './partition-audit.js';
import { partitionName } from './report.js';
import type { PartitionReport } from './report.js';
import { auditTopics, loadSchemas } from './topics.js';
import type { TopicsAudit } from './topics.js';

/** A record of a log, with where it is and what it is called in the chain. */
export interface Accepted {
  readonly log: string;
  readonly partition: number;
  readonly offset: number;
  /** Position in the accepted chain, from 1. */
  readonly seq: number;
  /** 64 hex digits. */
  readonly hash: string;
  readonly type: string;
  readonly body: unknown;
  /** As it stands in the log. */
  readonly raw: { readonly key: Buffer | null; readonly value: Buffer };
}

/**
 * Accepted records of logs of a dump, partition by partition, each in the order of its chain.
 *
 * Errors: CliProblem(DUMP_UNREADABLE) for no dump, and for what cannot be read, and (LOG_NOT_SOUND) for what is not as it was
 * written: nothing is left out in silence.
 */
export async function acceptedInDump(
  { folder, signing }: ReadDump,
  logs: readonly string[],
): Promise<readonly Accepted[]> {
  const found: Accepted[] = [];
  const held = logsIn(folder);
  const missing = missingIn(
    folder,
    logs,
    held.map(({ of }) => of),
  );
  if (missing.length > 0) unreadable(missing.join(', '), 'it is not in the dump, which names it');
  for (const { path, of } of held) {
    if (!logs.includes(of.topic)) continue;
    const codecs = await loadedCodecs(path);
    const records = signedRecordsIn(path, of, { signing, ...refusing(of) });
    for (const one of acceptedOf(of, verified(of, records, codecs), codecs)) found.push(one);
  }
  return found;
}

/** The same of logs on Kafka. Errors: those of auditTopics; CliProblem as above. */
export async function acceptedInTopics(asked: Omit<TopicsAudit, 'known' | 'onRecords'>): Promise<readonly Accepted[]> {
  const read = new Map<string, { readonly of: GenesisOf; readonly records: StoredRecord[] }>();
  const note = (of: GenesisOf, records: readonly StoredRecord[]): void => {
    const name = partitionName(of.topic, of.partition);
    const partition = read.get(name) ?? { of, records: [] };
    partition.records.push(...records);
    read.set(name, partition);
  };
  for (const report of await auditTopics({ ...asked, passesHidden: true, known: new Map(), onRecords: note }))
    refuseUnsound(report);
  const codecs = createCodecs(asked.registry);
  const found: Accepted[] = [];
  for (const { of, records } of read.values()) {
    await loadSchemas(records, codecs);
    for (const one of acceptedOf(of, records, codecs)) found.push(one);
  }
  return found;
}

/** The same records; refuses once all were read. */
function* verified(of: GenesisOf, records: Iterable<StoredRecord>, codecs: Codecs): Generator<StoredRecord> {
  const audit = new PartitionAudit(of, { codecs, known: [], from: null });
  for (const record of records) {
    audit.add(record);
    yield record;
  }
  refuseUnsound(audit.report());
}

/**
 * What takes nothing out of a chain silences no story: what a stranger put beside it, or a log that is not there. Both are `audit verify`'s
 * to tell of, as is a log that the reader has no right to see, and which a story is told without, and what only other logs say of one.
 */
const BESIDE: readonly string[] = ['stray', 'topic_missing', 'log_missing'];

function refuseUnsound({ topic, partition, findings }: PartitionReport): void {
  const first = findings.find(({ kind, read_by: by }) => by === undefined && !BESIDE.includes(kind));
  if (first === undefined) return;
  throw new CliProblem('LOG_NOT_SOUND', `${partitionName(topic, partition)}: ${first.message}`, 'found', {
    remedy: 'See all that is wrong with it: `recourse audit verify`.',
  });
}

function* acceptedOf(of: GenesisOf, records: Iterable<StoredRecord>, codecs: Codecs): Generator<Accepted> {
  const name = partitionName(of.topic, of.partition);
  const reader = new ChainReader(genesisHead(of), codecs.fingerprintOf);
  for (const { offset, key, value } of records) {
    const verdict = reader.read({ key, value });
    if (verdict.kind === 'unknown_schema') unreadable(name, `the schema of offset ${String(offset)} is not known`);
    if (verdict.kind !== 'accepted' || value === null) continue;
    const decoded = codecs.decodeSync(value);
    if (decoded.kind !== 'decoded') return unreadable(name, `offset ${String(offset)} cannot be read`);
    yield {
      log: of.topic,
      partition: of.partition,
      offset,
      seq: verdict.head.seq,
      hash: verdict.head.hash.toString('hex'),
      type: decoded.type,
      body: decoded.body,
      raw: { key, value },
    };
  }
}

function unreadable(name: string, why: string): never {
  throw new CliProblem('DUMP_UNREADABLE', `${name}: ${why}`, 'found', {
    remedy: 'See what is wrong with it: `recourse audit verify`.',
  });
}
