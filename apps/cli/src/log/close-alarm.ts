// Closes an alarm of the auditor: a person has looked at what it found.
//
// Boundary: writes the auditor's log as the auditor would, through OwnLog; an auditor that is running reads the record and goes on.
import type { OwnLog, PlacedRecord } from '@recourse/event-log';
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

/** Alarms that are open, oldest first. Errors: those of Kafka and registry. */
export async function openAlarms(
  log: OwnLog,
): Promise<{ readonly open: ReadonlyMap<string, OpenAlarm>; readonly decidedAt: number }> {
  await log.prepare();
  const open = new Map<string, OpenAlarm>();
  let decidedAt = 0;
  for await (const records of log.read(log.origin())) {
    for (const record of records) fold(record, open);
    decidedAt = records.at(-1)?.decidedAt ?? decidedAt;
  }
  return { open, decidedAt };
}

function fold({ type, body }: PlacedRecord, open: Map<string, OpenAlarm>): void {
  const id = String(body['alarm_id']);
  if (type === 'AlarmRaised') open.set(id, { id, finding: String(body['finding']), detail: String(body['detail']) });
  if (type === 'AlarmClosed') open.delete(id);
}

/** Records that an alarm is closed. `now`: this machine's time. Errors: CliProblem(ALARM_UNKNOWN); Failure(HEAD_MOVED). */
export async function closeAlarm(
  log: OwnLog,
  id: string,
  { by, reason, now }: Acceptance & { readonly now: number },
): Promise<{ readonly seq: number; readonly alarm: OpenAlarm }> {
  const { open, decidedAt } = await openAlarms(log);
  const alarm = open.get(id);
  if (alarm === undefined)
    throw new CliProblem('ALARM_UNKNOWN', `${id} is no alarm that is open`, 'refused', {
      remedy: '`recourse items --kind alarm` lists those that are.',
    });
  const batch = log.seal(Math.max(decidedAt, now));
  const { seq } = batch.add({ type: 'AlarmClosed', body: { alarm_id: id, by, reason } }, KEY);
  if ((await log.append(batch)) !== 'accepted')
    throw new Failure('HEAD_MOVED', 'the auditor wrote its log meanwhile; call again');
  return { seq, alarm };
}
