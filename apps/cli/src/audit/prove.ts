// Proves that a record stands in a log, by a head that the auditor signed.
//
// Boundary: reads the log up to the head; what comes out needs neither it nor us.
import { ChainReader, genesisHead, schemaIdOf } from '@recourse/chain';
import type { GenesisOf, StoredRecord } from '@recourse/chain';
import type { HashTree, Proof, SignedHead } from '@recourse/audit';
import { createCodecs } from '@recourse/messages';
import type { Codecs, SchemaSource } from '@recourse/messages';
import { CliProblem } from '../problem.js';
import { loadedCodecs, schemasIn } from './dump-file.js';
import { logsIn } from './dump-logs.js';
import { refusing, signedRecordsIn } from './dump-signed.js';
import type { ReadDump } from './dump-signed.js';
import type { Place } from './dump-record.js';
import { partitionName } from './report.js';
import { leavesIn } from './scratch.js';
import type { Scratch } from './scratch.js';
import { loadSchemas, partitionCounts, readPartition } from './topics.js';
import type { TopicsAudit } from './topics.js';

/** The records of one partition, and what reads them. */
export interface ProvedLog {
  readonly of: GenesisOf;
  readonly codecs: Codecs;
  readonly schemas: Pick<SchemaSource, 'schemaById'>;
  readonly records: AsyncIterable<readonly StoredRecord[]>;
  readonly close: () => Promise<void>;
}

/** A log of a dump. Errors: CliProblem(RECORD_UNKNOWN). */
export async function logInDump({ folder, signing }: ReadDump, place: Place): Promise<ProvedLog> {
  for (const { path, of } of logsIn(folder)) {
    if (of.topic !== place.log || of.partition !== place.partition) continue;
    const records = pages(signedRecordsIn(path, of, { signing, ...refusing(of) }));
    return { of, records, codecs: await loadedCodecs(path), schemas: schemasIn(path), close: () => Promise.resolve() };
  }
  throw unknownRecord(place);
}

async function* pages(records: Iterable<StoredRecord>): AsyncGenerator<readonly StoredRecord[]> {
  for (const record of records) yield await Promise.resolve([record]);
}

/** A log on Kafka. Errors: CliProblem(RECORD_UNKNOWN), and those of the cluster. */
export async function logOnKafka(
  { kafka, registry, logId }: Pick<TopicsAudit, 'kafka' | 'registry' | 'logId'>,
  place: Place,
): Promise<ProvedLog> {
  const { log: topic, partition } = place;
  const [[, partitionCount] = ['', null]] = await partitionCounts({ kafka, topics: [topic] });
  if (partitionCount === null || partition >= partitionCount) throw unknownRecord(place);
  const [reader, codecs] = [await kafka.rawReader(), createCodecs(registry)];
  return {
    of: { logId, topic, partition, partitionCount },
    codecs,
    schemas: registry,
    records: readPartition(reader, topic, partition, 0),
    close: () => reader.close(),
  };
}

/** A record that is to be proved, and its hash. */
interface Found {
  readonly seq: number;
  readonly record: StoredRecord;
  readonly leaf: Buffer;
}

export interface ProveMore {
  readonly heads: readonly SignedHead[];
  readonly scratch: Scratch;
}

/**
 * The proof of the record at a place: in the newest head, and that it extends the oldest.
 *
 * Errors: CliProblem(RECORD_UNKNOWN, NOT_SIGNED_YET, LOG_NOT_AS_SIGNED).
 */
export async function prove(log: ProvedLog, place: Place, more: ProveMore): Promise<Proof> {
  const [proof] = await proveAll(log, [place.seq], more);
  if (proof !== undefined) return proof;
  const name = partitionName(place.log, place.partition);
  throw new CliProblem('NOT_SIGNED_YET', `no signed head of ${name} holds record ${place.seq}`, 'found', {
    remedy: 'Name more heads with --heads, or wait until the auditor, and each witness that is named, has signed it.',
  });
}

/**
 * The proofs of several records of one log, which is read once; those that no head holds yet have none.
 *
 * Errors: CliProblem(RECORD_UNKNOWN, LOG_NOT_AS_SIGNED).
 */
export async function proveAll(
  log: ProvedLog,
  seqs: readonly number[],
  { heads, scratch }: ProveMore,
): Promise<readonly Proof[]> {
  const name = partitionName(log.of.topic, log.of.partition);
  const ofLog = heads
    .filter((head) => head.logId === log.of.logId && head.head !== null)
    .filter((head) => partitionName(head.topic, head.partition) === name)
    .sort((a, b) => a.generation - b.generation || a.size - b.size);
  const newest = ofLog.at(-1);
  const signed = seqs.filter((seq) => seq <= (newest?.size ?? 0));
  if (newest === undefined || signed.length === 0) {
    await log.close();
    return [];
  }
  const oldest = ofLog.find(({ generation, size }) => generation === newest.generation && size < newest.size);
  const tree = leavesIn(scratch, log.of);
  try {
    const found = await readInto(tree, log, { size: newest.size, wanted: new Set(signed) });
    if (!tree.tree.root().equals(newest.root))
      throw new CliProblem('LOG_NOT_AS_SIGNED', `${name} is not as it was signed`, 'found', {
        remedy: 'Run `recourse audit verify` with the same key: it says what was done to it.',
      });
    return await Promise.all(signed.map((seq) => proofOf(log, wantedIn(found, log, seq), { tree, newest, oldest })));
  } finally {
    tree.close();
  }
}

function wantedIn(found: ReadonlyMap<number, Found>, { of }: ProvedLog, seq: number): Found {
  const one = found.get(seq);
  if (one === undefined) throw unknownRecord({ log: of.topic, partition: of.partition, seq });
  return one;
}

/** Grows the tree of all records up to a size, and keeps those that are wanted. */
async function readInto(
  tree: HashTree,
  log: ProvedLog,
  { size, wanted }: { readonly size: number; readonly wanted: ReadonlySet<number> },
): Promise<ReadonlyMap<number, Found>> {
  const chain = new ChainReader(genesisHead(log.of), log.codecs.fingerprintOf);
  const found = new Map<number, Found>();
  for await (const { record, leaf } of acceptedIn(log, chain, size)) {
    tree.append(leaf);
    const { seq } = chain.head;
    if (wanted.has(seq)) found.set(seq, { seq, record, leaf });
  }
  return found;
}

/** Accepted records up to a place, with their hashes. */
async function* acceptedIn(
  { codecs, records, close }: ProvedLog,
  chain: ChainReader,
  size: number,
): AsyncGenerator<Omit<Found, 'seq'>> {
  try {
    for await (const page of records) {
      await loadSchemas(page, codecs);
      yield* acceptedOf(page, chain, size);
      if (chain.head.seq >= size) return;
    }
  } finally {
    await close();
  }
}

function* acceptedOf(page: readonly StoredRecord[], chain: ChainReader, size: number): Generator<Omit<Found, 'seq'>> {
  for (const record of page) {
    if (chain.head.seq >= size) return;
    if (chain.read(record).kind === 'accepted') yield { record, leaf: chain.head.hash };
  }
}

/** What the proofs of one log have in common. */
interface Proving {
  /** Of all records up to the newest head. */
  readonly tree: HashTree;
  readonly newest: SignedHead;
  readonly oldest: SignedHead | undefined;
}

async function proofOf(
  { of, codecs, schemas }: ProvedLog,
  { seq, record, leaf }: Found,
  { tree, newest, oldest }: Proving,
): Promise<Proof> {
  const { size, note } = newest;
  const id = schemaIdOf(record.value) ?? 0;
  return {
    format: 'recourse.proof.v1',
    log: { log_id: of.logId, topic: of.topic, partition: of.partition },
    record: {
      seq,
      offset: record.offset,
      key: record.key?.toString('base64') ?? '',
      value: record.value?.toString('base64') ?? '',
      schema: await schemas.schemaById(id),
      fingerprint: codecs.fingerprintOf(id)?.toString('hex') ?? '',
      leaf: leaf.toString('hex'),
    },
    inclusion: { index: seq - 1, size, path: hex(tree.inclusion(seq - 1, size)) },
    head: note,
    consistency: oldest === undefined ? null : { from: oldest.note, path: hex(tree.consistency(oldest.size, size)) },
  };
}

const hex = (hashes: readonly Buffer[]): string[] => hashes.map((one) => one.toString('hex'));

function unknownRecord({ log, partition, seq }: Place): CliProblem {
  return new CliProblem('RECORD_UNKNOWN', `${log}/${partition} holds no record ${seq}`, 'found', {
    remedy: 'Name it as <log>/<partition>/<seq>; a decision shows that place beside its hash.',
  });
}
