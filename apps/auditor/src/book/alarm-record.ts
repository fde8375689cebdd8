// Alarms as they stand in the auditor's log, raised and closed, each with the note that says that it is the auditor's.
import { alarmNote, closingNote, readSignedAlarm, readSignedClosing, treeName } from '@recourse/audit';
import type { NoteKey, NoteSigner } from '@recourse/audit';
import type { BodyOf } from '@recourse/messages';
import { DETAILS } from '../rules/alarm/alarm.messages.js';
import type { Alarm, AlarmKind } from '../rules/alarm/alarm.messages.js';

export type Raised = BodyOf<'recourse.signed-heads', 'AlarmRaised'>;
export type Closed = BodyOf<'recourse.signed-heads', 'AlarmClosed'>;

/** Whose notes count. */
export interface Notes {
  readonly logId: string;
  readonly key: NoteKey;
}
/** As whom they are signed. */
interface Signing {
  readonly logId: string;
  readonly signer: NoteSigner;
}

/** An alarm as the log says it; whose it is its note says. */
export function alarmOf(body: Raised, by: Notes): Alarm {
  const {
    alarm_id: id,
    finding,
    topic,
    partition,
    first_seq: seq,
    offset,
    detail,
    owner,
    deadline_at: deadlineAt,
  } = body;
  const generation = generationIn(body, by);
  return { id, kind: kindOf(finding), topic, partition, seq, offset, detail, owner, deadlineAt, generation };
}

/** A finding that is newer than this build contradicts as much as any other. */
function kindOf(finding: string): AlarmKind {
  return Object.hasOwn(DETAILS, finding) ? (finding as AlarmKind) : 'rewritten';
}

/** Which generation of heads it is about; null where its note is not of this auditor, or of another alarm. */
function generationIn({ alarm_id: id, finding, topic, partition, note }: Raised, { logId, key }: Notes): number | null {
  const said = note === null ? null : readSignedAlarm(note, [key]);
  const isIts =
    said?.id === id &&
    said.finding === finding &&
    said.logId === logId &&
    said.topic === topic &&
    said.partition === partition;
  return isIts ? said.generation : null;
}

/** What the auditor writes of an alarm that it raises. */
export function raisedBody(alarm: Alarm, { logId, signer }: Signing): Raised {
  const { id, kind, topic, partition, seq, offset, detail, owner, deadlineAt, generation } = alarm;
  return {
    alarm_id: id,
    tenant: '*',
    run_id: '',
    finding: kind,
    topic,
    partition,
    first_seq: seq,
    offset,
    detail: `${treeName(alarm)}: ${detail}`,
    owner,
    deadline_at: deadlineAt,
    note: alarmNote({ logId, topic, partition, generation: generation ?? 0, id, finding: kind }, signer),
  };
}

/** When the auditor took it for closed; null where its note is not of this auditor, of another alarm, or of another name. */
export function closedAt({ alarm_id: id, by, note }: Closed, { logId, key }: Notes): number | null {
  const said = note === null ? null : readSignedClosing(note, [key]);
  return said?.id === id && said.by === by && said.logId === logId ? said.at : null;
}

/** What the auditor writes of an alarm that it takes for closed. `at`: epoch milliseconds. */
export function closedBody(
  { id, by, reason, at }: { readonly id: string; readonly by: string; readonly reason: string; readonly at: number },
  { logId, signer }: Signing,
): Closed {
  return { alarm_id: id, by, reason, note: closingNote({ logId, id, at, by }, signer) };
}
