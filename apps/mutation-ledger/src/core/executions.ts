// Intents and executions as the ledger takes them: deduplicated, judged, bound under the contract they name.
import {
  contractByDigest,
  contractByName,
  handlePlaces,
  isCloser,
  isSuperseded,
  PayloadUnreadable,
} from '@recourse/contract';
import { append, NOTHING } from '@recourse/event-log';
import type { DecideContext, Decision, RecordInput } from '@recourse/event-log';
import { deriveId, namesReserved, REFS_MAX, RESERVED_PREFIX } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { FoundOut, ToolExecuted, ToolPlanned } from '@recourse/messages';
import type { NamedContract } from '../rules/mutation/bound.decisions.js';
import { closedByExecution, withClosed } from '../rules/mutation/closing.decider.js';
import { cancelHeld, fallenRef } from '../rules/mutation/hold.decider.js';
import { recordConflict, recordExecution, recordIntent } from '../rules/mutation/mutation.decider.js';
import { standingOfExecution, standingOfIntent } from '../rules/mutation/reported.decisions.js';
import type { CancelReason, ParkCode } from '../rules/mutation/mutation.messages.js';
import { judgeParents } from '../rules/mutation/lineage.decider.js';
import { contradictionsAtBinding, judgeRefs } from '../rules/mutation/refs.decider.js';
import type { Judgement } from '../rules/mutation/refs.decider.js';
import { refScope } from '../rules/identity.js';
import { bindingIn } from '../rows/binding.rows.js';
import { takenAlong } from './failures.part.js';
import { fall } from './falls.part.js';
import { claimAfter } from '../rules/handle/handle.decider.js';
import { intentSignedBy, signedBy } from './handles.part.js';
import type { FallPolicy } from './falls.part.js';
import { mutationIn, mutationsIn } from '../rows/mutation.rows.js';
import { rollbackIn } from '../rows/rollback.rows.js';
import { isRemembered } from '../rules/rollback/rollback.decider.js';
import type { MutationRecord } from '../rules/record.messages.js';

export type ToolEvent =
  | { readonly type: 'ToolPlanned'; readonly body: ToolPlanned; readonly input: Signed }
  | { readonly type: 'ToolExecuted'; readonly body: ToolExecuted; readonly input: Signed };

/** Whose key signed it, where wires are signed. */
type Signed = Pick<RecordInput, 'speaker'>;

/** Id of the effect of a run: one mutation however often it is reported (C22). */
export function mutationIdOf({
  tenant,
  run_id,
  effect_key,
}: Pick<ToolExecuted, 'tenant' | 'run_id' | 'effect_key'>): string {
  return deriveId('mut', tenant, run_id, effect_key);
}

/** Takes an intent or an execution. */
export function onTool(context: DecideContext, event: ToolEvent, policy: FallPolicy): Decision {
  if (event.body.assumption_refs.length + event.body.derived_from.length > REFS_MAX)
    return parked('TOO_MANY_REFS', `an execution relies on ${REFS_MAX} refs and commits at the most`);
  if (namesReserved(event.body.assumption_refs))
    return parked(
      'REF_RESERVED',
      `refs that begin with ${RESERVED_PREFIX} follow from derived_from, and are named by nobody`,
    );
  const id = mutationIdOf(event.body);
  const mutation = mutationIn(context.state, event.body.run_id, id);
  const standing =
    event.type === 'ToolPlanned' ? standingOfIntent(event.body, mutation) : standingOfExecution(event.body, mutation);
  if (standing === 'known') return NOTHING;
  if (standing === 'conflict' && mutation !== undefined) return oneOrNone(recordConflict(event, mutation));
  const named = contractOf(context, event.body);
  if (named.kind !== 'found') return named.decision;
  try {
    return append(
      ...(event.type === 'ToolPlanned'
        ? intentFacts(context, id, event, named.contract, policy)
        : signedBy(context, executionFacts(context, id, event.body, named.contract, policy), {
            named: named.contract,
            speaker: event.input.speaker,
          })),
    );
  } catch (cause) {
    if (cause instanceof PayloadUnreadable) return parked(cause.code, cause.message);
    throw cause;
  }
}

/** An execution, how it was found out (null: its producer told), what contradicts it already, and the windows that it closes. Errors: PayloadUnreadable. */
export function executionFacts(
  context: DecideContext,
  id: string,
  event: ToolExecuted,
  contract: NamedContract | null,
  policy: FallPolicy,
  found_out: FoundOut | null = null,
): readonly MutationRecord[] {
  const { tenant, run_id: runId, outcome } = event;
  const mutation = mutationIn(context.state, runId, id);
  const judgements = outcome === 'failed' ? [] : judgementsOf(context, event, event.assumption_refs);
  const bound =
    mutation === undefined
      ? []
      : judgements.flatMap(({ judged }) => bindingIn(context.state, refScope(tenant, judged.ref), id) ?? []);
  const recorded = recordExecution(
    id,
    { event, found_out },
    contract,
    judgements.map(({ judged }) => judged),
    mutation,
    context.now,
    policy,
  );
  const found = [
    ...closedAlready(context, recorded),
    ...contradictionsAtBinding(id, tenant, runId, judgements, bound),
    ...closes(
      context,
      { mutation_id: id, tenant, capability: event.capability, ref: recorded.body.ref, found_out },
      event,
    ),
    ...takenAlong(context, id, event, recorded.body.execution_state),
  ];
  return fall(context, found, policy);
}

/** Where the event that closes the window happened before, the window is closed from the start: stated, or executed in its run. */
function closedAlready(
  { state, views, now }: DecideContext,
  recorded: MutationRecord<'MutationRecorded'>,
): readonly MutationRecord[] {
  const { run_id } = recorded.body.execution;
  return withClosed(recorded, { view: views.view('assumptions'), runOf: () => mutationsIn(state, run_id) }, now);
}

/** Verdicts on all that an action relies on: assumptions, and that the commits it was derived from stand. */
export function judgementsOf(
  { views }: DecideContext,
  { tenant, run_id, derived_from }: Pick<ToolExecuted, 'tenant' | 'run_id' | 'derived_from'>,
  refs: readonly string[],
): readonly Judgement[] {
  return [
    ...judgeRefs(tenant, run_id, refs, views.view('assumptions')),
    ...judgeParents(tenant, derived_from, () => views.view('fallen')),
  ];
}

/** Looks at the run only where some contract names the capability as what closes a window. */
function closes(
  { state, views, now }: DecideContext,
  closer: Parameters<typeof closedByExecution>[0],
  { run_id, outcome }: ToolExecuted,
): readonly MutationRecord[] {
  if (outcome !== 'succeeded' || !isCloser(views.view('contracts'), closer.capability)) return [];
  return closedByExecution(closer, mutationsIn(state, run_id), now);
}

/** An intent. A held one that something speaks against already is cancelled with it. */
function intentFacts(
  context: DecideContext,
  id: string,
  { body: event, input }: Extract<ToolEvent, { type: 'ToolPlanned' }>,
  contract: NamedContract | null,
  policy: FallPolicy,
): readonly MutationRecord[] {
  const { tenant, run_id: runId } = event;
  const judgements = event.is_held ? judgementsOf(context, event, event.assumption_refs) : [];
  const judged = judgements.map((one) => one.judged);
  const planned = intentSignedBy(recordIntent(id, event, contract, judged, context.now, policy), input.speaker);
  if (planned.body.hold_until === null) return [planned];
  const rollback = rollbackIn(context.state, { tenant, run_id: runId, mutation_id: id });
  const reason = objectionTo(judgements, rollback !== undefined && isRemembered(rollback));
  if (reason === null) return [planned];
  const cancelled = cancelHeld(
    heldBy(planned),
    {
      reason,
      eventId: fallenRef(judgements) ?? event.event_id,
      contract: contract?.contract ?? null,
      refs: event.assumption_refs,
    },
    context.now,
    policy,
  );
  return fall(context, [planned, ...contradictionsAtBinding(id, tenant, runId, judgements, []), ...cancelled], policy);
}

/** The mutation as its intent makes it. */
function heldBy({
  body: { mutation_id, execution, terms, handle_ref },
}: MutationRecord<'MutationPlanned'>): Parameters<typeof cancelHeld>[0] {
  const { tenant, run_id } = execution;
  return {
    mutation_id,
    tenant,
    run_id,
    execution,
    execution_state: 'planned',
    terms,
    recoverability: 'pending_commit',
    forward: null,
    claim: claimAfter({ handle_ref }),
  };
}

function objectionTo(judgements: readonly Judgement[], isRolledBack: boolean): CancelReason | null {
  if (fallenRef(judgements) !== null) return 'REF_INVALIDATED';
  return isRolledBack ? 'ROLLED_BACK' : null;
}

/** A contract that was found (null: none was named), or what to do until it is. */
export type Named =
  | { readonly kind: 'found'; readonly contract: NamedContract | null }
  | { readonly kind: 'wait'; readonly decision: Decision };

/** The contract an event names: under that digest and no other (A22). An unknown one may only not have been read yet. */
export function contractOf(
  { views, now }: DecideContext,
  { contract_digest: digest, capability, tenant }: Pick<ToolExecuted, 'contract_digest' | 'capability' | 'tenant'>,
): Named {
  if (digest === null) return { kind: 'found', contract: null };
  const known = contractByDigest(views.view('contracts'), digest);
  if (known === undefined) {
    views.readToEnd();
    return {
      kind: 'wait',
      decision: parked('CONTRACT_UNKNOWN', `no contract has the digest ${digest.toString('hex')}`),
    };
  }
  const owner = known.contract.tenant ?? '*';
  if (known.contract.name !== capability || (owner !== '*' && owner !== tenant)) {
    return {
      kind: 'wait',
      decision: parked('CONTRACT_MISMATCH', `the digest is that of ${known.contract.name}, owned by ${owner}`),
    };
  }
  const schemaOf = (name: string): Json | undefined =>
    contractByName(views.view('contracts'), tenant, name)?.contract.args_schema as Json | undefined; // it came in as JSON
  const handlePlacesOf = (name: string): ReadonlySet<string> => handlePlaces(views.view('contracts'), name);
  return {
    kind: 'found',
    contract: {
      ...known,
      isSuperseded: isSuperseded(views.view('contracts'), tenant, known, now),
      schemaOf,
      handlePlacesOf,
    },
  };
}

export function oneOrNone(fact: MutationRecord | null): Decision {
  return fact === null ? NOTHING : append(fact);
}

export function parked(reason: ParkCode, detail: string): Decision {
  return { records: [], park: { reason, detail } };
}
