// Accepts that a log lost acknowledged records: appends CutAccepted at its head, then drops the projection (L5, L8).
//
// Boundary: the one place of the command line that writes a log; it does so as its owner would, through OwnLog.
//
// Invariants
//   C1. Nothing is appended before a person has seen what is lost.
//   C2. The record comes first: a crash between the two steps is continued by calling again, and no loss is recorded twice.
import type { Head } from '@recourse/chain';
import { OwnLog } from '@recourse/event-log';
import type { OwnLogOptions, PlacedRecord } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import type { Projected, Projection } from '../outbound/projection.postgres.js';
import { CliProblem } from '../problem.js';
import { judgeLoss } from './loss.decisions.js';
import type { Loss } from './loss.decisions.js';

/** Both sides as they stand. */
export interface Seen {
  readonly loss: Loss;
  readonly projected: Projected | null;
  readonly log: Head;
  /** `decided_at` of the last accepted record. */
  readonly decidedAt: number;
}

export interface Acceptance {
  readonly by: string;
  readonly reason: string;
}

export interface Accepted {
  /** Seq of the CutAccepted record; null when it had been appended before. */
  readonly seq: number | null;
  readonly hash: string | null;
}

/** Record key of what concerns the partition and no aggregate. */
export const PARTITION_KEY = 'progress';
const CUT_ACCEPTED = 'CutAccepted';

export function openLog(options: OwnLogOptions): OwnLog {
  return new OwnLog(options);
}

/** Reads the whole log and compares it with the projection. Errors: those of Kafka, registry and database. */
export async function lookAtLoss(log: OwnLog, projection: Projection): Promise<Seen> {
  await log.prepare();
  const projected = await projection.head();
  let [hashAtProjected, last]: [Buffer | null, PlacedRecord | null] = [null, null];
  for await (const records of log.read(log.origin())) {
    hashAtProjected ??= records.find(({ seq }) => seq === projected?.seq)?.hash ?? null;
    last = records.at(-1) ?? last;
  }
  const { head } = log.position;
  return {
    projected,
    log: head,
    decidedAt: last?.decidedAt ?? 0,
    loss: judgeLoss({ projected, log: head, hashAtProjected, lastAccepts: acceptedBy(last) }),
  };
}

function acceptedBy(record: PlacedRecord | null): { readonly lostHeadHash: Buffer } | null {
  const lost = record?.type === CUT_ACCEPTED ? record.body['lost_head_hash'] : null;
  return lost instanceof Uint8Array ? { lostHeadHash: Buffer.from(lost) } : null;
}

/** Records the loss and drops the projection. Errors: Failure(HEAD_MOVED, PROJECTION_FENCED); CliProblem(NOTHING_LOST, LOG_REWRITTEN). */
export async function acceptLoss(
  log: OwnLog,
  projection: Projection,
  seen: Seen,
  acceptance: Acceptance,
): Promise<Accepted> {
  const { loss, projected } = seen;
  if (projected === null || loss.kind === 'nothing_lost') throw nothingLost();
  if (loss.kind === 'rewritten') throw rewritten(loss.seq);
  const accepted =
    loss.kind === 'cut' ? await record(log, projection, { ...seen, loss }, acceptance) : { seq: null, hash: null };
  await projection.drop(projected);
  return accepted;
}

async function record(
  log: OwnLog,
  projection: Projection,
  { loss, decidedAt }: Seen & { readonly loss: Extract<Loss, { kind: 'cut' }> },
  { by, reason }: Acceptance,
): Promise<Accepted> {
  const batch = log.seal(Math.max(decidedAt, await projection.now()));
  const body = { lost_from_seq: loss.fromSeq, lost_to_seq: loss.toSeq, lost_head_hash: loss.headHash, by, reason };
  const { seq, hash } = batch.add({ type: CUT_ACCEPTED, body }, PARTITION_KEY);
  if ((await log.append(batch)) !== 'accepted')
    throw new Failure(
      'HEAD_MOVED',
      'the record was not accepted at the head that was seen: somebody else writes this log; call again',
    );
  return { seq, hash: hash.toString('hex') };
}

export function nothingLost(): CliProblem {
  return new CliProblem('NOTHING_LOST', 'the log holds everything that was projected', 'refused', {
    remedy: 'There is nothing to accept. See `recourse audit verify`.',
  });
}

export function rewritten(seq: number): CliProblem {
  return new CliProblem(
    'LOG_REWRITTEN',
    `record ${seq} is not the one that was projected: another history stands in its place`,
    'refused',
    {
      remedy:
        'This is no cut. Run `recourse audit verify`, and restore the topic or the database from the same moment.',
    },
  );
}
