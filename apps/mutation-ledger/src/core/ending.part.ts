// Who ends nothing that waits about an effect or a checkpoint: who did it, for whom it was done, who owns the agent, and who made the
// contract it ran under (P5).
import { contractView, editorsOf, entryView, ownersEver } from '@recourse/contract';
import type { DecideContext } from '@recourse/event-log';
import { isAmong } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type { Refusal } from '../rules/refusal.messages.js';
import { commitIn } from '../rows/commit.rows.js';
import { mutationIn } from '../rows/mutation.rows.js';

/** What would be ended is about this. */
export interface About {
  readonly tenant: string;
  readonly run_id: string;
  /** Of a mutation, or of a checkpoint. */
  readonly mutation_id: string;
}

/** Says why somebody may not end what waits about it; null when they may. The contracts are read to their end before it counts. */
export function endingRefusal(context: DecideContext, about: About, asking: Asking): Refusal | null {
  const { views, state } = context;
  const mutation = mutationIn(state, about.run_id, about.mutation_id);
  const done = mutation?.execution ?? commitIn(state, about.run_id, about.mutation_id)?.checkpoint;
  if (done === undefined) return null;
  const { agent_id: agent, initiator } = done;
  if (isAmong(concernedBy(context, about.tenant, [agent, ...(initiator === null ? [] : [initiator])]), asking))
    return {
      code: 'SELF_APPROVAL',
      message: 'Nobody ends what they did themselves, what was done on their behalf, or what their agent did.',
    };
  const digest = mutation?.terms?.contract_digest ?? null;
  if (digest === null) return null;
  views.readToEnd();
  return isAmong(editorsOf(views.view(contractView.name), about.tenant, digest), asking)
    ? {
        code: 'EDITOR_APPROVAL',
        message: 'Nobody ends what waits under a contract they registered or confirmed; ask somebody else.',
      }
    : null;
}

/** Agents that something is about, and who owns them: none of them ends it. */
export function concernedBy(
  context: Pick<DecideContext, 'views'>,
  tenant: string,
  agents: readonly string[],
): readonly (string | null)[] {
  return agents.flatMap((agent) => [agent, ...ownersOf(context, tenant, agent)]);
}

/** Who owns an agent or did, by each of its charters, the tenant's and the platform's. */
function ownersOf({ views }: Pick<DecideContext, 'views'>, tenant: string, agent: string): readonly string[] {
  return ownersEver(views.view(entryView.name), tenant, agent);
}
