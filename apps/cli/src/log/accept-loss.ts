// Accepts that a wire lost records before a service read them: appends a Progress behind the loss and the reason for it (L3, L13).
//
// Boundary: writes a log as its owner would, through OwnLog; which records are gone, the wire says.
//
// Invariants
//   W1. Nothing is appended before a person has seen what is lost.
//   W2. The cursor moves and the loss is recorded in one batch, or neither: called again, there is nothing to accept.
import { judgeRange } from '@recourse/event-log';
import type { InputLoss, OwnLog, PlacedRecord, StoredCursor } from '@recourse/event-log';
import type { PartitionRange } from '@recourse/kafka';
import { Failure } from '@recourse/kernel';
import { CliProblem } from '../problem.js';
import { PARTITION_KEY } from './accept-cut.js';
import type { Acceptance } from './accept-cut.js';

/** A partition of a wire. */
export interface WirePartition {
  readonly wire: string;
  readonly partition: number;
}

/** Both sides as they stand. */
export interface WireSeen {
  readonly range: PartitionRange;
  /** Where the log stands in the wire; 0 when it never read of it. */
  readonly readTo: number;
  readonly loss: InputLoss | null;
  readonly last: { readonly decidedAt: number; readonly reactedSeq: number };
}

export interface LossRecorded {
  /** Seq of the WireLossAccepted record. */
  readonly seq: number;
  readonly goesOnAt: number;
}

const NO_HASH = Buffer.alloc(32);

/** Reads the whole log for where it stands in a wire, and asks the wire what it holds. Errors: those of Kafka and registry. */
export async function lookAtWire(log: OwnLog, { wire, partition }: WirePartition): Promise<WireSeen> {
  await log.prepare();
  let [readTo, decidedAt, reactedSeq] = [0, 0, 0];
  for await (const records of log.read(log.origin())) {
    decidedAt = records.at(-1)?.decidedAt ?? decidedAt;
    for (const record of records.filter(({ type }) => type === 'Progress')) {
      readTo = cursorIn(record, wire, partition)?.offset ?? readTo;
      reactedSeq = Number(record.body['reacted_seq']);
    }
  }
  const range = await (await log.reader()).range(wire, partition);
  return { range, readTo, loss: judgeRange(range, readTo), last: { decidedAt, reactedSeq } };
}

function cursorIn({ body }: PlacedRecord, wire: string, at: number): StoredCursor | undefined {
  return (body['cursors'] as readonly StoredCursor[]).find(
    ({ topic, partition }) => topic === wire && partition === at,
  );
}

/** Records the loss and moves the cursor behind it. `now`: database time. Errors: Failure(HEAD_MOVED); CliProblem(NOTHING_LOST). */
export async function acceptWireLoss(
  log: OwnLog,
  { wire: topic, partition }: WirePartition,
  { loss, last }: WireSeen,
  { by, reason, now }: Acceptance & { readonly now: number },
): Promise<LossRecorded> {
  if (loss === null) throw nothingGone();
  const { readTo: read_to, goesOnAt: goes_on_at } = loss;
  const batch = log.seal(Math.max(last.decidedAt, now));
  const cursors = [{ topic, partition, offset: goes_on_at, seq: 0, hash: NO_HASH }];
  batch.add({ type: 'Progress', body: { cursors, reacted_seq: last.reactedSeq } }, PARTITION_KEY);
  const body = { topic, partition, read_to, goes_on_at, by, reason };
  const { seq } = batch.add({ type: 'WireLossAccepted', body }, PARTITION_KEY);
  if ((await log.append(batch)) !== 'accepted')
    throw new Failure('HEAD_MOVED', 'somebody else wrote this log meanwhile; call again');
  return { seq, goesOnAt: goes_on_at };
}

export function nothingGone(): CliProblem {
  return new CliProblem('NOTHING_LOST', 'the wire holds everything this log has not read', 'refused', {
    remedy: 'There is nothing to accept. What halted the partition is in `recourse status`.',
  });
}
