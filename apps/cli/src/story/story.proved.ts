// Which records of a packet are proved: each by a proof of its own, all of one deployment, and those of one log in one tree of it.
import { parseProof, PROOF_PROBLEMS, readSignedHead, treeName } from '@recourse/audit';
import type { Proof, ProofTrust, SignedHead } from '@recourse/audit';
import { problemOfProof } from '../audit/check-proof.js';
import type { Place } from '../audit/dump-record.js';
import { placeName } from './place-name.js';

/** A record of a packet, with what stands beside it for a proof. */
interface ProvedRecord extends Place {
  readonly hash: string;
  readonly proof: unknown;
}

export interface StoryProblem {
  readonly code: string;
  readonly message: string;
}

interface Judged {
  readonly outcome: 'holds' | 'missing' | 'fails';
  readonly problem?: StoryProblem;
}

interface Held extends Judged {
  /** The head that a proof which holds is by. */
  readonly head?: SignedHead;
}

const MISSING: Held = { outcome: 'missing' };

export type ProofKeys = Required<Pick<ProofTrust, 'keys' | 'witnesses'>>;

/** The proofs of the records of one deployment, and its log id: the one that is named, else that of the first that holds. */
export async function proofsIn(
  records: readonly ProvedRecord[],
  { keys = [], witnesses = [] }: Partial<ProofKeys>,
  logId: string | null,
): Promise<{ readonly proofs: readonly Judged[]; readonly ofLog: string | null }> {
  if (keys.length === 0) return { proofs: [], ofLog: null };
  const held = await Promise.all(records.map((record) => heldBy(record, { keys, witnesses })));
  const first = held.find(({ head }) => head !== undefined)?.head?.logId ?? null;
  const ofLog = logId ?? first;
  const generations = newestOf(held.flatMap(({ head }) => (head?.logId === ofLog ? [head] : [])));
  const proofs = records.map((record, at) => inOneTree(record, held[at] ?? MISSING, { ofLog, generations }));
  return { proofs, ofLog: first === null ? null : ofLog };
}

/** The newest generation by the name of its log: the heads of those before it were given up. */
function newestOf(heads: readonly SignedHead[]): ReadonlyMap<string, number> {
  const newest = new Map<string, number>();
  for (const head of heads)
    newest.set(treeName(head), Math.max(head.generation, newest.get(treeName(head)) ?? head.generation));
  return newest;
}

/**
 * A packet tells of one deployment: what another one decided under the same names is proved there, and not here. Of a log whose heads a
 * person gave up it tells of what was before or of what has come since: no log ever held both.
 */
function inOneTree(
  record: ProvedRecord,
  held: Held,
  { ofLog, generations }: { readonly ofLog: string | null; readonly generations: ReadonlyMap<string, number> },
): Judged {
  const { head } = held;
  if (head === undefined) return held;
  const differs = (message: string): Judged => ({
    outcome: 'fails',
    problem: { code: 'STORY_LOG_DIFFERS', message: `${placeName(record)} is proved of ${message}` },
  });
  if (head.logId !== ofLog) return differs(`the logs ${head.logId}, not of ${String(ofLog)}`);
  const generation = generations.get(treeName(head)) ?? head.generation;
  return head.generation === generation
    ? held
    : differs(`generation ${String(head.generation)} of its log, which was given up, not of ${String(generation)}`);
}

/** A proof counts for the record that it is about, at the place that it names. */
async function heldBy(record: ProvedRecord, { keys, witnesses }: ProofKeys): Promise<Held> {
  if (record.proof === null) return MISSING;
  const fails = (why: string): Held => ({
    outcome: 'fails',
    problem: { code: 'STORY_PROOF_FAILS', message: `the proof of ${placeName(record)} proves nothing: ${why}` },
  });
  const problem = await problemOfProof(record.proof, keys, { witnesses });
  if (problem !== null) return fails(PROOF_PROBLEMS[problem]);
  const proof = parseProof(record.proof);
  const head = proof === null ? null : readSignedHead(proof.head, keys);
  return head !== null && isIts(record, proof) ? { outcome: 'holds', head } : fails('it is of another record');
}

function isIts({ log, partition, seq, hash }: ProvedRecord, proof: Proof | null): boolean {
  const { log: of, record: proved } = proof ?? { log: null, record: null };
  return proved?.leaf === hash && proved.seq === seq && of?.topic === log && of.partition === partition;
}
