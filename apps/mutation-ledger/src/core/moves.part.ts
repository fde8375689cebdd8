// How mutations move as their recovery goes: what the orchestrator recorded of their steps.
//
// Boundary: reads rows, asks the decider; holds no rule.
import { append } from '@recourse/event-log';
import type { DecideContext, Decision } from '@recourse/event-log';
import { isRecorded } from '../rules/mutation/mutation.messages.js';
import type { RecoveryEvent } from '../rules/mutation/mutation.messages.js';
import { decideRecovery, together } from '../rules/mutation/recoverability.decider.js';
import type { RecordOf } from '@recourse/messages';
import { mutationIn } from '../rows/mutation.rows.js';

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
export function onRecovery({ state }: DecideContext, recovered: Recovered): Decision {
  const { run_id: runId } = recovered.body;
  return append(
    ...together(
      toldBy(recovered).flatMap(({ mutation_id, event }) => {
        const mutation = mutationIn(state, runId, mutation_id);
        return isRecorded(mutation) ? (decideRecovery(event, mutation) ?? []) : [];
      }),
    ),
  );
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
