// What happened, in its order, for whom an incident is shown (C64): every entry is something a record said.
//
// Boundary: pure; reads the rows of an incident and its step.
import type { StepDoc } from '../rules/step/step.messages.js';
import type { IncidentDoc } from '../rules/task/task.messages.js';

/** One entry; `at` in epoch milliseconds. */
export interface TimelineEntry {
  readonly at: number;
  readonly what: string;
  readonly who: string | null;
  readonly detail: string | null;
}

/** An incident with its timeline, oldest first. */
export function timelineOf(incident: IncidentDoc, step: StepDoc): readonly TimelineEntry[] {
  const { evidence, approvals, legs, last, resolved, execution, ref } = step;
  const entries: readonly (TimelineEntry | null)[] = [
    { at: ref.committed_at, what: 'the effect took hold', who: execution.agent_id, detail: execution.capability },
    { at: evidence.stated_at, what: 'it was contradicted', who: evidence.source, detail: evidence.ref },
    { at: step.decided_at, what: 'it was decided upon', who: null, detail: step.decision },
    ...approvals.map(({ at, by, reason }) => ({ at, what: 'it was agreed to', who: by, detail: reason })),
    step.first_dispatched_at === null
      ? null
      : {
          at: step.first_dispatched_at,
          what: 'a worker was asked',
          who: null,
          detail: `${String(legs.length)} attempts`,
        },
    last === null ? null : { at: last.at, what: 'it was judged', who: null, detail: `${last.outcome}: ${last.reason}` },
    {
      at: incident.opened.at,
      what: 'it became an incident',
      who: incident.opened.by,
      detail: `${incident.severity}: ${incident.opened.reason}`,
    },
    resolved === null
      ? null
      : {
          at: resolved.at,
          what: 'a person closed the item',
          who: resolved.by,
          detail: `${resolved.resolution}: ${resolved.reason}`,
        },
    incident.closed === null
      ? null
      : { at: incident.closed.at, what: 'the incident ended', who: incident.closed.by, detail: incident.closed.reason },
  ];
  return entries.filter((entry) => entry !== null).sort((one, other) => one.at - other.at);
}
