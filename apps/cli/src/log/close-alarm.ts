// Closes an alarm of the auditor: a person has looked at what it found.
//
// Boundary: writes the auditor's log as the auditor would, through OwnLog; an auditor that is running reads the record and goes on.
import type { LogPosition, OwnLog, PlacedRecord } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import { CliProblem } from '../problem.js';
import type { Acceptance } from './accept-cut.js';

export const HEADS_LOG = 'recourse.signed-heads';
export const AUDITOR = 'auditor';
const KEY = 'heads';

/** An alarm that nobody has closed. */
export interface OpenAlarm {
  readonly id: string;
  readonly finding: string;
  readonly detail: string;
}

/** What the log says of alarms, as far as it was read. */
interface Alarms {
  readonly open: Map<string, OpenAlarm>;
  /** Where each was closed. */
  readonly closedAt: Map<string, number>;
  decidedAt: number;
}

/** The auditor writes its log every few seconds: whoever comes in between reads on and tries again. */
const ATTEMPTS = 10;

async function readOn(log: OwnLog, alarms: Alarms, from: LogPosition): Promise<void> {
  for await (const records of log.read(from)) {
    for (const record of records) fold(record, alarms);
    alarms.decidedAt = records.at(-1)?.decidedAt ?? alarms.decidedAt;
  }
}

function fold({ type, body, seq }: PlacedRecord, { open, closedAt }: Alarms): void {
  const id = String(body['alarm_id']);
  if (type === 'AlarmRaised') open.set(id, { id, finding: String(body['finding']), detail: String(body['detail']) });
  if (type !== 'AlarmClosed') return;
  open.delete(id);
  closedAt.set(id, seq);
}

/**
 * Records that an alarm is closed, once, also where nobody said whether the record landed. `now`: this machine's time.
 *
 * Errors: CliProblem(ALARM_UNKNOWN); Failure(HEAD_MOVED) where the auditor wrote its log each time; those of Kafka and registry.
 */
export async function closeAlarm(
  log: OwnLog,
  id: string,
  { by, reason, now }: Acceptance & { readonly now: number },
): Promise<{ readonly seq: number; readonly alarm: OpenAlarm }> {
  await log.prepare();
  const alarms: Alarms = { open: new Map(), closedAt: new Map(), decidedAt: 0 };
  await readOn(log, alarms, log.origin());
  const alarm = alarms.open.get(id);
  if (alarm === undefined)
    throw new CliProblem('ALARM_UNKNOWN', `${id} is no alarm that is open`, 'refused', {
      remedy: '`recourse items --kind alarm` lists those that are.',
    });
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const batch = log.seal(Math.max(alarms.decidedAt, now));
    const { seq } = batch.add({ type: 'AlarmClosed', body: { alarm_id: id, by, reason } }, KEY);
    if ((await log.append(batch)) === 'accepted') return { seq, alarm };
    await readOn(log, alarms, log.position);
    const closedAt = alarms.open.has(id) ? undefined : alarms.closedAt.get(id);
    if (closedAt !== undefined) return { seq: closedAt, alarm };
  }
  throw new Failure('HEAD_MOVED', 'the auditor wrote its log meanwhile, each time; call again');
}
