// Alarms as they stand in the auditor's log, each with the note that says that it is the auditor's.
import { alarmNote, readSignedAlarm, treeName } from '@recourse/audit';
import type { NoteKey, NoteSigner } from '@recourse/audit';
import type { BodyOf } from '@recourse/messages';
import { DETAILS } from '../rules/alarm/alarm.messages.js';
import type { Alarm, AlarmKind } from '../rules/alarm/alarm.messages.js';

type Raised = BodyOf<'recourse.signed-heads', 'AlarmRaised'>;

/** An alarm as the log says it; whose it is its note says. */
export function alarmOf(body: Raised, by: { readonly logId: string; readonly key: NoteKey }): Alarm {
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
function generationIn(
  { alarm_id: id, finding, topic, partition, note }: Raised,
  { logId, key }: { readonly logId: string; readonly key: NoteKey },
): number | null {
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
export function raisedBody(
  alarm: Alarm,
  { logId, signer }: { readonly logId: string; readonly signer: NoteSigner },
): Raised {
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
