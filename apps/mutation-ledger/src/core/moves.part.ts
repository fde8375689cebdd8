// How mutations move as their recovery goes, and what was executed for them: what the orchestrator recorded of their steps.
//
// Boundary: reads rows, asks the decider; holds no rule.
import { append } from '@recourse/event-log';
import type { DecideContext, Decision } from '@recourse/event-log';
import type { LegSettled, RecordOf } from '@recourse/messages';
import { calledIn, compensationIdOf, contractOfCall, executedBy } from '../rules/compensation/compensation.decider.js';
import type { Judged } from '../rules/compensation/compensation.decider.js';
import { isRecorded } from '../rules/mutation/mutation.messages.js';
import type { RecoveryEvent } from '../rules/mutation/mutation.messages.js';
import { decideRecovery, together } from '../rules/mutation/recoverability.decider.js';
import type { Body, MutationRecord } from '../rules/record.messages.js';
import { compensationIn, mutationIn } from '../rows/mutation.rows.js';

/** What the orchestrator recorded of recoveries. */
export type Recovered = Extract<
  RecordOf<'recourse.recoveries'>,
  { readonly type: 'LegDispatched' | 'LegSettled' | 'StepEscalated' | 'StepDenied' | 'StepResolved' }
>;

/** What is told of one mutation. */
interface Told {
  readonly mutation_id: string;
  readonly event: RecoveryEvent;
}

/** Moves the mutations that a record of a recovery is about. */
export function onRecovery(context: DecideContext, recovered: Recovered): Decision {
  const { run_id: runId } = recovered.body;
  const moves = together(
    toldBy(recovered).flatMap(({ mutation_id, event }) => {
      const mutation = mutationIn(context.state, runId, mutation_id);
      return isRecorded(mutation) ? (decideRecovery(event, mutation) ?? []) : [];
    }),
  );
  return append(...moves, ...(recovered.type === 'LegSettled' ? executedIn(context, recovered.body) : []));
}

/** The compensations that a leg executed, each under its own contract (A62). */
function executedIn({ state, views }: DecideContext, leg: Body<LegSettled>): readonly MutationRecord[] {
  const { tenant, run_id: runId, members } = leg;
  const judged = members.flatMap((verdict): readonly Judged[] => {
    const mutation = mutationIn(state, runId, verdict.mutation_id);
    if (!isRecorded(mutation)) return [];
    return calledIn(verdict).map((called) => {
      const contract = contractOfCall(views.view('contracts'), called.call.capability, tenant);
      // One that is not there may only not have been read yet.
      if (contract === null) views.readToEnd();
      const id = compensationIdOf(tenant, runId, verdict.mutation_id, called.position);
      return { verdict, called, mutation, standing: compensationIn(state, runId, id), contract };
    });
  });
  return executedBy(leg, judged);
}

function toldBy(recovered: Recovered): readonly Told[] {
  switch (recovered.type) {
    case 'LegDispatched': {
      const { attempt, members } = recovered.body;
      return members.map(({ mutation_id, step: { step_id } }) => ({
        mutation_id,
        event: { type: 'Dispatched', body: { step_id, attempt } },
      }));
    }
    case 'LegSettled':
      return recovered.body.members.map((body) => ({
        mutation_id: body.mutation_id,
        event: { type: 'Settled', body },
      }));
    default:
      return [{ mutation_id: recovered.body.mutation_id, event: recovered }];
  }
}
