// Heads that a verification trusts: of an earlier one, of a file, or signed in the auditor's own log.
//
// Boundary: reads; whoever signs is named by a key that the caller has from elsewhere.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChainReader, genesisHead } from '@recourse/chain';
import type { GenesisOf, KnownHead, StoredRecord } from '@recourse/chain';
import { knownHeadOf, notesIn, originOf, parseVerifier, readSignedHead, textPieces, treeName } from '@recourse/audit';
import type { NoteKey, NoteRole, SignedHead } from '@recourse/audit';
import { createCodecs, recordOf } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { z } from 'zod';
import { CliProblem } from '../problem.js';
import { comparedHeads, HEADS_TOPIC } from './coverage.js';
import type { TrustedHeads } from './coverage.js';
import { filesOf } from './dump.js';
import { headerOf, loadedCodecs, recordsIn } from './dump-file.js';
import type { ReadDump } from './dump-signed.js';
import type { AuditStart } from './partition-audit.js';
import { partitionName } from './report.js';
import type { KnownHeads } from './report.js';
import { loadSchemas, partitionCounts, readPartition } from './topics.js';
import type { TopicsAudit } from './topics.js';

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const earlier = z.object({
  partitions: z.array(
    z.object({
      topic: z.string(),
      partition: z.int(),
      head_seq: z.int(),
      head_hash: hash.or(z.literal('')),
      root: hash.or(z.literal('')).optional(),
      next_offset: z.int().min(0).optional(),
      peaks: z.array(hash).nullable().optional(),
    }),
  ),
});
type Earlier = z.infer<typeof earlier>['partitions'][number];

/** Heads that an earlier `audit verify --json`, or the manifest of a dump, names. Errors: CliProblem(FILE_UNREADABLE). */
export function headsOfEarlier(file: string): KnownHeads {
  return new Map(partitionsIn(file).map((one) => [partitionName(one.topic, one.partition), [headOf(one)]]));
}

function headOf({ head_seq: seq, head_hash, root, next_offset: nextOffset }: Earlier): KnownHead {
  return {
    seq,
    hash: Buffer.from(head_hash, 'hex'),
    ...(root === undefined || root === '' ? {} : { root: Buffer.from(root, 'hex') }),
    ...(nextOffset === undefined ? {} : { nextOffset }),
  };
}

/** Where an earlier verification ended, to begin there. Errors: CliProblem(FILE_UNREADABLE). */
export function startsOfEarlier(file: string): ReadonlyMap<string, AuditStart> {
  return new Map(
    partitionsIn(file).flatMap((one): [string, AuditStart][] => {
      const { nextOffset, ...head } = headOf(one);
      if (nextOffset === undefined) return [];
      const peaks = one.peaks?.map((peak) => Buffer.from(peak, 'hex')) ?? null;
      return [[partitionName(one.topic, one.partition), { ...head, nextOffset, peaks }]];
    }),
  );
}

/**
 * The same where witnesses are named: what grows on from there has a root, which is what a witness signs. A signed head says which
 * record is the last as well, but no witness looks at that, and nothing of what the root grew from. Errors: CliProblem(ROOTS_UNKNOWN).
 */
export function startsWithRoots(file: string): ReadonlyMap<string, AuditStart> {
  let starts: ReadonlyMap<string, AuditStart>;
  try {
    starts = startsOfEarlier(file);
  } catch (cause) {
    throw rootsUnknown(file, cause);
  }
  if ([...starts.values()].some(({ peaks }) => peaks === null)) throw rootsUnknown(file);
  return starts;
}

function rootsUnknown(file: string, cause?: unknown): CliProblem {
  return new CliProblem(
    'ROOTS_UNKNOWN',
    `behind the heads of ${file} no root is known, and a witness signs roots alone`,
    'usage',
    {
      ...(cause === undefined ? {} : { cause }),
      remedy:
        'Name what `recourse audit verify --json` printed of a verification from the beginning, or leave out --from-head; kept heads go to --heads.',
    },
  );
}

function partitionsIn(file: string): readonly Earlier[] {
  try {
    const { partitions } = earlier.parse(JSON.parse(readFileSync(file, 'utf8')));
    return partitions.filter(({ head_hash }) => head_hash !== '');
  } catch (cause) {
    throw new CliProblem('FILE_UNREADABLE', `${file} holds no heads`, 'usage', {
      cause,
      remedy: 'Name what `recourse audit verify --json` printed, or the manifest.json of a dump.',
    });
  }
}

/** Begins behind the newest of the signed heads of each log: their roots are not known to grow on, so it shows nothing to a witness. */
export function startsOfSigned(heads: Iterable<SignedHead>): ReadonlyMap<string, AuditStart> {
  const starts = new Map<string, AuditStart>();
  for (const head of heads)
    if (head.head !== null)
      starts.set(treeName(head), { seq: head.size, hash: head.head, nextOffset: head.nextOffset, peaks: null });
  return starts;
}

/** The verifier key of an auditor, or the file that holds it. Errors: CliProblem(KEY_UNREADABLE). */
export function auditorKey(given: string, resolved: string): NoteKey {
  return verifierKey(given, resolved, 'log');
}

/** The same of a witness: each signs as what it is. Errors: CliProblem(KEY_UNREADABLE). */
export function witnessKey(given: string, resolved: string): NoteKey {
  return verifierKey(given, resolved, 'witness');
}

function verifierKey(given: string, resolved: string, role: NoteRole): NoteKey {
  const key = parseVerifier(given) ?? parseVerifier(textIn(resolved) ?? '');
  if (key?.role === role) return key;
  const whose = role === 'log' ? 'an auditor' : 'a witness';
  const what = key === null ? 'no verifier key, and no file that holds one' : `a verifier key, and none of ${whose}`;
  throw new CliProblem('KEY_UNREADABLE', `${given} is ${what}`, 'usage', {
    remedy: `Name what \`recourse audit new-key --role ${role}\` printed, which ${whose} has: <name>+<8 hex digits>+<base64>.`,
  });
}

function textIn(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}

/** Signed heads of a file, read as they are asked for. Errors: CliProblem(FILE_UNREADABLE) where the key signed none of them. */
export function* headsInFile(file: string, key: NoteKey): Generator<SignedHead> {
  let count = 0;
  try {
    for (const note of notesIn(textPieces(file))) {
      const head = readSignedHead(note, [key]);
      if (head === null) continue;
      count += 1;
      yield head;
    }
  } catch (cause) {
    throw noHeads(file, key, cause);
  }
  if (count === 0) throw noHeads(file, key);
}

function noHeads(file: string, { name }: NoteKey, cause?: unknown): CliProblem {
  return new CliProblem('FILE_UNREADABLE', `${file} holds no head that ${name} signed`, 'usage', {
    ...(cause === undefined ? {} : { cause }),
    remedy: 'Name the file heads.notes of the auditor, or another that it signed.',
  });
}

/** Which of these says the same as a head, if any does. */
export function sameAmong(heads: readonly SignedHead[]): (head: SignedHead) => SignedHead | undefined {
  const said = new Map(heads.map((head) => [sayingOf(head), head]));
  return (head) => said.get(sayingOf(head));
}

function sayingOf(head: SignedHead): string {
  return `${originOf(head)} ${String(head.size)} ${String(head.nextOffset)} ${head.root.toString('base64')}`;
}

/** What a verification compares logs with. */
export function knownOf(trusted: TrustedHeads): KnownHeads {
  const known = new Map<string, KnownHead[]>();
  for (const head of comparedHeads(trusted)) {
    const one = knownHeadOf(head);
    if (one === null) continue;
    const others = known.get(treeName(head));
    if (others === undefined) known.set(treeName(head), [one]);
    else others.push(one);
  }
  return known;
}

/** Heads that stand in the auditor's log in a dump, whoever put them there; none where it is not there. */
export async function headsInDump({ folder }: Pick<ReadDump, 'folder'>, key: NoteKey): Promise<readonly SignedHead[]> {
  const heads: SignedHead[] = [];
  for (const file of filesOf(folder)) {
    const of = headerOf(join(folder, file));
    if (of?.topic !== HEADS_TOPIC) continue;
    const path = join(folder, file);
    const found = headsIn(
      recordsIn(path, () => undefined),
      { of, codecs: await loadedCodecs(path), key },
    );
    for (const one of found) heads.push(one);
  }
  return heads;
}

/** Heads that stand in the auditor's log. Errors: those of the cluster. */
export async function headsInTopic(
  { kafka, registry, logId }: Pick<TopicsAudit, 'kafka' | 'registry' | 'logId'>,
  key: NoteKey,
): Promise<readonly SignedHead[]> {
  const [[, count] = ['', null]] = await partitionCounts({ kafka, topics: [HEADS_TOPIC], passesHidden: true });
  if (count === null) return [];
  const [reader, codecs] = [await kafka.rawReader(), createCodecs(registry)];
  try {
    const of = { logId, topic: HEADS_TOPIC, partition: 0, partitionCount: count };
    const chain = new ChainReader(genesisHead(of), codecs.fingerprintOf);
    const heads: SignedHead[] = [];
    for await (const records of readPartition(reader, HEADS_TOPIC, 0, 0)) {
      await loadSchemas(records, codecs);
      for (const record of records) heads.push(...headsOfRecord(record, { chain, codecs, key }));
    }
    return heads;
  } finally {
    await reader.close();
  }
}

function headsIn(
  records: Iterable<StoredRecord>,
  { of, codecs, key }: { readonly of: GenesisOf; readonly codecs: Codecs; readonly key: NoteKey },
): readonly SignedHead[] {
  const chain = new ChainReader(genesisHead(of), codecs.fingerprintOf);
  return [...records].flatMap((record) => headsOfRecord(record, { chain, codecs, key }));
}

/** A head counts by its signature, whatever became of the chain of the log it stands in. */
function headsOfRecord(
  record: StoredRecord,
  { chain, codecs, key }: { readonly chain: ChainReader; readonly codecs: Codecs; readonly key: NoteKey },
): readonly SignedHead[] {
  chain.read(record);
  const decoded = recordOf(HEADS_TOPIC, codecs.decodeSync(record.value));
  if (decoded?.type !== 'HeadsSigned') return [];
  return decoded.body.heads.flatMap(({ note }) => readSignedHead(note, [key]) ?? []);
}
