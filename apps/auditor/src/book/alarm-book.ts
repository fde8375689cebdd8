// Alarms as the auditor's log tells them: which are open, which a person has closed, and what a person said that is not signed yet.
//
// Boundary: folds records; writes and signs nothing.
//
// Invariants
//   A1. An alarm is closed only with a note of this auditor: who can write to the log cannot hide one.
//   A2. A note closes what was raised before it, and nothing that is raised again.
//   A3. What bears no note takes the place of no alarm that does.
//   A4. What fits no note is no alarm: nobody could close it.
import { AUDITOR_ACTOR, headsText, isPersonsName } from '@recourse/audit';
import type { Alarm } from '../rules/alarm/alarm.messages.js';
import { alarmOf, closedAt } from './alarm-record.js';
import type { Closed, Notes, Raised } from './alarm-record.js';

/** Ids of ours are shorter; somebody else may have written any text. */
const ID = /^[\w-]{1,100}$/;

/** An open alarm, and how it was written down. */
interface Standing {
  readonly body: Raised;
  /** Epoch milliseconds. */
  readonly raisedAt: number;
}

/** An alarm of this auditor that a person has closed, and the notes that say so: of the alarm, and of its closing. */
export interface ClosedAlarm {
  readonly alarm: Alarm;
  readonly notes: string;
}

export class AlarmBook {
  readonly open = new Map<string, Alarm>();
  /** A person has seen and closed it, and this auditor had raised it. */
  readonly closed = new Set<string>();
  readonly #standing = new Map<string, Standing>();
  readonly #said = new Map<string, Closed>();
  readonly #denied = new Set<string>();

  constructor(private readonly notes: Notes) {}

  /** What persons said of open alarms, and this auditor has not signed. */
  get said(): readonly Closed[] {
    return [...this.#said.values()];
  }

  /** Alarms of this auditor that somebody else wrote down as closed, with a note that is none of its own: who has no key believes that. */
  get denied(): readonly Raised[] {
    return [...this.#denied].flatMap((id) => this.#standing.get(id)?.body ?? []);
  }

  raise(body: Raised, raisedAt: number): void {
    const alarm = alarmOf(body, this.notes);
    if (!ID.test(alarm.id)) return;
    if (alarm.generation === null && (this.open.get(alarm.id)?.generation ?? null) !== null) return;
    this.#forget(alarm.id);
    this.open.set(alarm.id, alarm);
    this.#standing.set(alarm.id, { body, raisedAt });
  }

  /** The alarm that a person has closed with this; null where it closes none, or none that this auditor had raised. */
  close(body: Closed): ClosedAlarm | null {
    const { alarm_id: id, by, note } = body;
    const [alarm, standing] = [this.open.get(id), this.#standing.get(id)];
    if (alarm === undefined || standing === undefined) return null;
    const at = closedAt(body, this.notes);
    if (at === null || at < standing.raisedAt) {
      if (note !== null && alarm.generation !== null) this.#denied.add(id);
      if (note === null && isPersonsName(by)) this.#said.set(id, body);
      return null;
    }
    this.#forget(id);
    if (alarm.generation === null || by === AUDITOR_ACTOR) return null;
    this.closed.add(id);
    return { alarm, notes: headsText([standing.body, body].map((one) => ({ note: one.note ?? '' }))) };
  }

  #forget(id: string): void {
    this.open.delete(id);
    this.#standing.delete(id);
    this.#said.delete(id);
    this.#denied.delete(id);
  }
}
