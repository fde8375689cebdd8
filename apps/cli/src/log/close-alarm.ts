// Closes alarms of the auditor: a person has looked at what they found.
//
// Boundary: writes the auditor's log as the auditor would, through OwnLog, and has no key of its notes: the alarm is closed once the
// auditor has read the record and signed that.
import { isPersonsName } from '@recourse/audit';
import type { LogPosition, OwnLog, PlacedRecord } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import { CliProblem } from '../problem.js';
import type { Acceptance } from './accept-cut.js';

export const HEADS_LOG = 'recourse.signed-heads';
export const AUDITOR = 'auditor';
const KEY = 'heads';

/** An alarm of which nobody has said that it is closed. */
export interface OpenAlarm {
  readonly id: string;
  readonly finding: string;
  /** Log or wire with its partition, as items name it. */
  readonly log: string;
  readonly detail: string;
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
}

/** What the log says of alarms, as far as it was read. */
export interface Alarms {
  readonly open: Map<string, OpenAlarm>;
  /** Where each was said to be closed. */
  readonly closedAt: Map<string, number>;
  decidedAt: number;
}

/** Which alarms are meant: those that are named, or all that fit; without `findings` or `logs`, of any. */
export interface Wanted {
  readonly ids: readonly string[];
  readonly findings?: readonly string[];
  /** A log, or a partition of one. */
  readonly logs?: readonly string[];
}

export interface ClosedAlarm {
  readonly seq: number;
  readonly alarm: OpenAlarm;
}

/** The auditor writes its log every few seconds: whoever comes in between reads on and tries again. */
const ATTEMPTS = 10;

/** Reads the whole log. Errors: those of Kafka and registry. */
export async function alarmsIn(log: OwnLog): Promise<Alarms> {
  await log.prepare();
  const alarms: Alarms = { open: new Map(), closedAt: new Map(), decidedAt: 0 };
  await readOn(log, alarms, log.origin());
  return alarms;
}

async function readOn(log: OwnLog, alarms: Alarms, from: LogPosition): Promise<void> {
  for await (const records of log.read(from)) {
    for (const record of records) fold(record, alarms);
    alarms.decidedAt = records.at(-1)?.decidedAt ?? alarms.decidedAt;
  }
}

/** Where a person has said so, the auditor signs it; what bears no note and the name of no person, it neither wrote nor signs. */
function fold({ type, body, seq }: PlacedRecord, { open, closedAt }: Alarms): void {
  const id = String(body['alarm_id']);
  if (type === 'AlarmRaised') open.set(id, openAlarm(id, body));
  if (type !== 'AlarmClosed') return;
  if (body['note'] === null && !isPersonsName(String(body['by']))) return;
  open.delete(id);
  closedAt.set(id, seq);
}

function openAlarm(id: string, body: PlacedRecord['body']): OpenAlarm {
  const [finding, detail] = [String(body['finding']), String(body['detail'])];
  const log = `${String(body['topic'])}/${String(body['partition'])}`;
  return { id, finding, log, detail, deadlineAt: Number(body['deadline_at']) };
}

/** The open alarms that are meant, as they were raised. Errors: CliProblem(ALARM_UNKNOWN) where one is not open, none fits, or one of the words narrows to nothing: it may be the id of an alarm behind `--log`. */
export function chosenIn({ open }: Alarms, wanted: Wanted): readonly OpenAlarm[] {
  const unknown = wanted.ids.filter((id) => !open.has(id));
  if (unknown.length > 0)
    throw new CliProblem(
      'ALARM_UNKNOWN',
      unknown.length === 1
        ? `${unknown.join()} is no alarm that is open`
        : `no alarms that are open: ${unknown.join(', ')}`,
      'refused',
      { remedy: '`recourse items --kind alarm` lists those that are.' },
    );
  const idle = [
    ...(wanted.findings ?? []).filter((finding) => !isOne(open, { ids: [], findings: [finding] })),
    ...(wanted.logs ?? []).filter((log) => !isOne(open, { ids: [], logs: [log] })),
  ];
  if (idle.length > 0)
    throw new CliProblem(
      'ALARM_UNKNOWN',
      `no alarm that is open has the finding or log ${idle.join(', ')}`,
      'refused',
      {
        remedy:
          '`recourse items --kind alarm` lists those that are: REASON is the finding, LOG the log. Ids stand before the options.',
      },
    );
  const chosen = [...open.values()].filter((alarm) =>
    wanted.ids.length > 0 ? wanted.ids.includes(alarm.id) : fits(alarm, wanted),
  );
  if (chosen.length > 0) return chosen;
  throw new CliProblem('ALARM_UNKNOWN', 'no alarm that is open fits', 'refused', {
    remedy: '`recourse items --kind alarm` lists those that are: REASON is the finding, LOG the log.',
  });
}

/** Errors: CliProblem(CALL_INVALID) for a name that no note can bear. */
export function refuseOtherNames(by: string): void {
  if (isPersonsName(by)) return;
  throw new CliProblem('CALL_INVALID', `${JSON.stringify(by)} names no person who could close an alarm`, 'usage', {
    remedy:
      'Name whoever has looked, on one line of at most 200 characters; the auditor closes alarms with its own key.',
  });
}

function isOne(open: Alarms['open'], wanted: Wanted): boolean {
  return [...open.values()].some((alarm) => fits(alarm, wanted));
}

/** Items say a finding in capitals. */
function fits({ finding, log }: OpenAlarm, { findings, logs }: Wanted): boolean {
  const isFinding = findings?.some((one) => one.toLowerCase() === finding) ?? true;
  return isFinding && (logs?.some((one) => log === one || log.startsWith(`${one}/`)) ?? true);
}

/**
 * Records that alarms are closed: a record for each, once, also where nobody said whether it landed. `now`: this machine's time.
 *
 * Shape:  all of one append, so that signing of a log begins anew once. One that somebody else closed meanwhile stays closed as they said.
 * Errors: Failure(HEAD_MOVED) where the auditor wrote its log each time; those of Kafka and registry.
 */
export async function closeAlarms(
  log: OwnLog,
  alarms: Alarms,
  chosen: readonly OpenAlarm[],
  word: Acceptance & { readonly now: number },
): Promise<readonly ClosedAlarm[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const left = chosen.filter(({ id }) => alarms.open.has(id));
    if (left.length > 0 && !(await append(log, alarms, left, word))) await readOn(log, alarms, log.position);
    const closed = chosen.flatMap((alarm) => {
      const seq = alarms.open.has(alarm.id) ? undefined : alarms.closedAt.get(alarm.id);
      return seq === undefined ? [] : [{ seq, alarm }];
    });
    if (closed.length === chosen.length) return closed;
  }
  throw new Failure('HEAD_MOVED', 'the auditor wrote its log meanwhile, each time; call again');
}

/** False where it was not accepted, or nobody can say. */
async function append(
  log: OwnLog,
  { open, closedAt, decidedAt }: Alarms,
  left: readonly OpenAlarm[],
  { by, reason, now }: Acceptance & { readonly now: number },
): Promise<boolean> {
  const batch = log.seal(Math.max(decidedAt, now));
  const seqs = left.map(({ id }) => batch.add({ type: 'AlarmClosed', body: { alarm_id: id, by, reason } }, KEY).seq);
  if ((await log.append(batch)) !== 'accepted') return false;
  for (const [at, { id }] of left.entries()) {
    open.delete(id);
    closedAt.set(id, seqs[at] ?? 0);
  }
  return true;
}
