// Accepts that the last decision of a log lies ahead of the true time: appends TimeAccepted at its head, and its time stands (L1).
//
// Boundary: writes a log as its owner would, through OwnLog; the true time is that of the database, where the own clock agrees.
//
// Invariants
//   T1. Nothing is appended before a person has seen how far the log is ahead.
//   T2. Nobody accepts with a clock that may be wrong: the database's and the own one agree, or nothing is appended.
import { LOOP_SETTINGS, stoodAs, TIME_ACCEPTED } from '@recourse/event-log';
import type { OwnLog, PlacedRecord } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import type { StoodTime } from '@recourse/kernel';
import type { Projection } from '../outbound/projection.postgres.js';
import { CliProblem } from '../problem.js';
import { PARTITION_KEY } from './accept-cut.js';
import type { Acceptance } from './accept-cut.js';
import { judgeTime, stoodAfter } from './time.decisions.js';
import type { TimeBounds, TimeJudgement, Times } from './time.decisions.js';

export const TIME_BOUNDS: TimeBounds = {
  marginMs: LOOP_SETTINGS.clockMarginMs,
  apartMaxMs: LOOP_SETTINGS.clockAheadMaxMs,
};

/** Both sides as they stand. */
export interface TimeSeen extends Times {
  readonly judgement: TimeJudgement;
}

export interface TimeRecorded extends StoodTime {
  /** Seq of the TimeAccepted record. */
  readonly seq: number;
}

/** Reads the whole log for its last decision, and asks the database what time it is. Errors: those of Kafka, registry and database. */
export async function lookAtTime(log: OwnLog, projection: Projection, ownClock: () => number): Promise<TimeSeen> {
  await log.prepare();
  let [last, accepted]: [PlacedRecord | null, PlacedRecord | null] = [null, null];
  for await (const records of log.read(log.origin())) {
    last = records.at(-1) ?? last;
    accepted = records.findLast(({ type }) => type === TIME_ACCEPTED) ?? accepted;
  }
  const databaseNow = await projection.now();
  const stood = accepted === null ? null : stoodAs(accepted.body);
  const times = { headDecidedAt: last?.decidedAt ?? 0, databaseNow, ownNow: ownClock(), stood };
  return { ...times, judgement: judgeTime(times, TIME_BOUNDS) };
}

/** Records that the time of the head stands. Errors: Failure(HEAD_MOVED); CliProblem(NOTHING_AHEAD, CLOCKS_DIFFER). */
export async function acceptTime(log: OwnLog, seen: TimeSeen, { by, reason }: Acceptance): Promise<TimeRecorded> {
  refuseUnlessAhead(seen.judgement);
  const stood = stoodAfter(seen);
  const batch = log.seal(stood.standsAt);
  const body = { stands_at: stood.standsAt, true_now: stood.trueNow, by, reason };
  const { seq } = batch.add({ type: TIME_ACCEPTED, body }, PARTITION_KEY);
  if ((await log.append(batch)) !== 'accepted')
    throw new Failure('HEAD_MOVED', 'somebody else wrote this log meanwhile: stop the service, and call again');
  return { ...stood, seq };
}

/** Errors: CliProblem(NOTHING_AHEAD, CLOCKS_DIFFER). */
export function refuseUnlessAhead(judgement: TimeJudgement): void {
  if (judgement.kind === 'ahead') return;
  if (judgement.kind === 'nothing_ahead')
    throw new CliProblem('NOTHING_AHEAD', 'the last decision of this log is not ahead of its database', 'refused', {
      remedy: 'There is nothing to accept. What is in the way is in `recourse status`.',
    });
  const { byMs } = judgement;
  throw new CliProblem(
    'CLOCKS_DIFFER',
    `the database's clock is ${Math.abs(byMs)} ms ${byMs > 0 ? 'ahead of' : 'behind'} the clock here: one of the two is wrong`,
    'refused',
    { remedy: 'Correct it, then call again: what is accepted is measured by both.' },
  );
}
