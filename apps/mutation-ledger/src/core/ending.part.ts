// Who ends nothing that waits about an effect or a checkpoint: who did it, for whom it was done, who owns the agent, and who made the
// contract it ran under (P5).
import { contractView, editorsOf, entryView, ownersEver } from '@recourse/contract';
import type { DecideContext, StateView } from '@recourse/event-log';
import { isAmong } from '@recourse/kernel';
import type { Asking } from '@recourse/kernel';
import type { Refusal } from '../rules/refusal.messages.js';
import { commitIn } from '../rows/commit.rows.js';
import { mutationIn, mutationsIn } from '../rows/mutation.rows.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';

/** What would be ended is about this. */
export interface About {
  readonly tenant: string;
  readonly run_id: string;
  /** Of a mutation, or of a checkpoint. */
  readonly mutation_id: string;
}

/** What was done, as far as it says who ends nothing that waits about it. */
export interface Done {
  readonly agent_id: string;
  readonly initiator: string | null;
  /** Digest of the contract it ran under; null where it named none. */
  readonly contract: Buffer | null;
}

/** What a mutation of the tenant did, or a checkpoint; null where it has none: whoever is named may be another's. */
export function doneIn(state: StateView, { tenant, run_id, mutation_id }: About): Done | null {
  const mutation = mutationIn(state, run_id, mutation_id);
  if (mutation !== undefined) return mutation.tenant === tenant ? doneBy(mutation) : null;
  const commit = commitIn(state, run_id, mutation_id);
  if (commit?.tenant !== tenant) return null;
  const { agent_id, initiator } = commit.checkpoint;
  return { agent_id, initiator, contract: null };
}

/** What a tenant had done in a run, with effect. */
export function doneInRun(state: StateView, tenant: string, runId: string): readonly Done[] {
  return mutationsIn(state, runId)
    .filter((mutation) => mutation.tenant === tenant)
    .map(doneBy);
}

function doneBy({ execution: { agent_id, initiator }, terms }: Mutation): Done {
  return { agent_id, initiator, contract: terms?.contract_digest ?? null };
}

/** Says why somebody may not end what waits about it; null when they may. */
export function endingRefusal(context: DecideContext, about: About, asking: Asking): Refusal | null {
  const done = doneIn(context.state, about);
  if (done === null) return null;
  if (isAmong(partiesTo(context, about.tenant, [done]), asking))
    return {
      code: 'SELF_APPROVAL',
      message: 'Nobody ends what they did themselves, what was done on their behalf, or what their agent did.',
    };
  return editorRefusal(context, about.tenant, [done], asking);
}

/** Says why who made a contract that something was done under does not end what waits about it. The contracts are read to their end before it counts. */
export function editorRefusal(
  { views }: Pick<DecideContext, 'views'>,
  tenant: string,
  done: readonly Pick<Done, 'contract'>[],
  asking: Asking,
): Refusal | null {
  const digests = new Map(
    done.flatMap(({ contract }) => (contract === null ? [] : [[contract.toString('hex'), contract]])),
  );
  if (digests.size === 0) return null;
  views.readToEnd();
  const contracts = views.view(contractView.name);
  return isAmong(
    [...digests.values()].flatMap((digest) => editorsOf(contracts, tenant, digest)),
    asking,
  )
    ? {
        code: 'EDITOR_APPROVAL',
        message: 'Nobody ends what waits under a contract they registered or confirmed; ask somebody else.',
      }
    : null;
}

/** Who did it, for whom it was done, and who owns any of them: each once, however much was done. */
export function partiesTo(
  context: Pick<DecideContext, 'views'>,
  tenant: string,
  done: readonly Done[],
): readonly (string | null)[] {
  const names = new Set(
    done.flatMap(({ agent_id, initiator }) => [agent_id, ...(initiator === null ? [] : [initiator])]),
  );
  return concernedBy(context, tenant, [...names]);
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
