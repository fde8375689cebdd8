// Proves that a record stands in a log, by a head that the auditor signed.
//
// Boundary: reads the log up to the head; what comes out needs neither it nor us.
import { join } from 'node:path';
import { ChainReader, genesisHead, schemaIdOf } from '@recourse/chain';
import type { GenesisOf, StoredRecord } from '@recourse/chain';
import type { HashTree, Proof, SignedHead } from '@recourse/audit';
import { createCodecs } from '@recourse/messages';
import type { Codecs, SchemaSource } from '@recourse/messages';
import { CliProblem } from '../problem.js';
import { filesOf } from './dump.js';
import { headerOf, loadedCodecs, recordsIn, schemasIn } from './dump-file.js';
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
export async function logInDump(folder: string, place: Place): Promise<ProvedLog> {
  for (const file of filesOf(folder)) {
    const path = join(folder, file);
    const of = headerOf(path);
    if (of?.topic !== place.log || of.partition !== place.partition) continue;
    const records = pages(recordsIn(path, () => undefined));
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

/** The record, with the tree of all up to the newest head. */
interface Found {
  readonly record: StoredRecord;
  readonly leaf: Buffer;
  readonly tree: HashTree;
}

/**
 * The proof of the record at a place: in the newest head, and that it extends the oldest.
 *
 * Errors: CliProblem(RECORD_UNKNOWN, NOT_SIGNED_YET, LOG_NOT_AS_SIGNED).
 */
export async function prove(
  log: ProvedLog,
  place: Place,
  more: { readonly heads: readonly SignedHead[]; readonly scratch: Scratch },
): Promise<Proof> {
  const name = partitionName(place.log, place.partition);
  const heads = more.heads
    .filter((head) => partitionName(head.topic, head.partition) === name && head.head !== null)
    .sort((a, b) => a.generation - b.generation || a.size - b.size);
  const newest = heads.at(-1);
  if (newest === undefined || newest.size < place.seq)
    throw new CliProblem('NOT_SIGNED_YET', `no signed head of ${name} holds record ${place.seq}`, 'found', {
      remedy: 'Name more heads with --heads, or wait until the auditor has signed it.',
    });
  const found = await readUpTo(log, place, { size: newest.size, scratch: more.scratch });
  try {
    if (!found.tree.tree.root().equals(newest.root))
      throw new CliProblem('LOG_NOT_AS_SIGNED', `${name} is not as it was signed`, 'found', {
        remedy: 'Run `recourse audit verify` with the same key: it says what was done to it.',
      });
    const oldest = heads.find(({ generation, size }) => generation === newest.generation && size < newest.size);
    return await proofOf(log, place, { ...found, newest, oldest });
  } finally {
    found.tree.close();
  }
}

async function readUpTo(
  log: ProvedLog,
  place: Place,
  { size, scratch }: { readonly size: number; readonly scratch: Scratch },
): Promise<Found> {
  const chain = new ChainReader(genesisHead(log.of), log.codecs.fingerprintOf);
  const tree = leavesIn(scratch, log.of);
  let wanted: Pick<Found, 'record' | 'leaf'> | null = null;
  for await (const { record, leaf } of acceptedIn(log, chain, size)) {
    tree.append(leaf);
    if (chain.head.seq === place.seq) wanted = { record, leaf };
  }
  if (wanted === null) throw unknownRecord(place);
  return { ...wanted, tree };
}

/** Accepted records up to a place, with their hashes. */
async function* acceptedIn(
  { codecs, records, close }: ProvedLog,
  chain: ChainReader,
  size: number,
): AsyncGenerator<Pick<Found, 'record' | 'leaf'>> {
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

function* acceptedOf(
  page: readonly StoredRecord[],
  chain: ChainReader,
  size: number,
): Generator<Pick<Found, 'record' | 'leaf'>> {
  for (const record of page) {
    if (chain.head.seq >= size) return;
    if (chain.read(record).kind === 'accepted') yield { record, leaf: chain.head.hash };
  }
}

async function proofOf(
  { of, codecs, schemas }: ProvedLog,
  { seq }: Place,
  {
    record,
    leaf,
    tree,
    newest,
    oldest,
  }: Found & { readonly newest: SignedHead; readonly oldest: SignedHead | undefined },
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
