// The mutations log: every execution, how it is undone, and what became of it (DESIGN 6.2).
//
// Boundary: reads state and views, hands them to the deciders, maps their facts. Rows are made in mutation-rows.ts.
import { deriveId, InvariantViolation } from '@recourse/kernel';
import { contractByDigest, contractView, PayloadUnreadable } from '@recourse/contract';
import { facts, NOTHING } from '@recourse/event-log';
import type { AcceptedRecord, DecideContext, Decision, InputSpec, RecordInput, ServiceCore, TimerInput, ViewSpec } from '@recourse/event-log';
import type { AssumptionStated, Execution, ToolExecuted, ToolPlanned } from '@recourse/messages';
import type { NamedContract } from '../domain/mutation/binding.decider.js';
import {
  closeWindow, decideRecovery, decideRollback, escalateExecution, LEDGER_POLICY, recordConflict, recordExecution, recordIntent, rollBack, standingOfExecution, standingOfIntent,
} from '../domain/mutation/mutation.decider.js';
import type { LedgerPolicy } from '../domain/mutation/mutation.decider.js';
import { isRecorded } from '../domain/mutation/mutation.messages.js';
import type { Body, Mutation, MutationEvent, MutationFact, ParkCode, Trigger } from '../domain/mutation/mutation.messages.js';
import { continueSpread, contradictionsAtBinding, decideStatement, EFFECTS_MAX, judgeRefs, REFS_MAX, verdictEntry } from '../domain/mutation/refs.decider.js';
import { refScope } from '../domain/scope.js';
import { bindingsIn, evolveMutations, MUTATION_KINDS, mutationIn, namesOf, spreadsIn, triggerIn } from './mutation-rows.js';
import { noticesOf } from './rollback-notices.js';

export interface MutationsConfig extends Partial<LedgerPolicy> {
  /** Most contradictions of one decision; EFFECTS_MAX unless told. */
  readonly effectsMax?: number;
}

type Policy = Required<MutationsConfig>;

/** The mutations log as pure functions. */
export function mutationsCore(config: MutationsConfig = {}): ServiceCore {
  const policy: Policy = { ...LEDGER_POLICY, effectsMax: EFFECTS_MAX, ...config };
  return {
    log: 'recourse.mutations',
    inputs: INPUTS,
    views: [contractView, assumptionView],
    kinds: MUTATION_KINDS,
    keyOf: ({ body }) => String(body.run_id ?? (body.execution as Execution | undefined)?.run_id ?? body.ref),
    needs: (input) => (input.source === 'timer' ? needsOfTimer(input) : needsOfEvent(eventOf(input))),
    decide: (context, input) => (input.source === 'timer' ? onTimer(context, input, policy) : onEvent(context, input, policy)),
    evolve: evolveMutations,
    react: () => [],
    owed: () => false,
    owedNeeds: () => [],
    derived: { topic: 'recourse.rollback-notifications', derive: noticesOf },
  };
}

/** View of the assumptions log: the verdict that stands per ref and scope. */
export const assumptionView: ViewSpec = {
  name: 'assumptions',
  topic: 'recourse.assumptions',
  fold: (record: AcceptedRecord) => {
    if (record.type !== 'AssumptionStated') return [];
    const entry = verdictEntry(record.body as Body<AssumptionStated>, record.seq); // the type says which body it is
    return entry === null ? [] : [entry];
  },
};

const INPUTS: readonly InputSpec[] = [
  { topic: 'recourse.tool-executions', source: 'wire', mode: 'aligned', types: ['ToolPlanned', 'ToolExecuted'] },
  { topic: 'recourse.ledger-commands', source: 'wire', mode: 'aligned', types: [] },
  { topic: 'recourse.recoveries', source: 'log', mode: 'aligned', types: ['RollbackOpened', 'LegDispatched', 'StepOutcomeRecorded', 'StepEscalated', 'StepDenied'] },
  { topic: 'recourse.assumptions', source: 'log', mode: 'broadcast', types: ['AssumptionStated'], concerns: ({ body }) => body['verdict'] === 'invalidated' && body['superseded'] !== true },
];

/** Id of the effect of a run: one mutation however often it is reported (C22). */
export function mutationIdOf({ tenant, run_id, effect_key }: Pick<ToolExecuted, 'tenant' | 'run_id' | 'effect_key'>): string {
  return deriveId('mut', tenant, run_id, effect_key);
}

function onEvent(context: DecideContext, input: RecordInput, policy: Policy): Decision {
  const event = eventOf(input);
  switch (event.type) {
    case 'ToolPlanned':
    case 'ToolExecuted': return onTool(context, input.key, event, policy);
    case 'AssumptionStated': return onStatement(context, input, event.body, policy.effectsMax);
    case 'RollbackOpened': {
      const { run_id, mutation_id } = event.body;
      return oneOrNone(decideRollback(event.body, mutationIn(context.state, run_id, mutation_id), triggerIn(context.state, run_id, event.body.tenant, mutation_id)));
    }
    case 'LegDispatched':
    case 'StepOutcomeRecorded':
    case 'StepEscalated':
    case 'StepDenied': {
      const mutation = mutationIn(context.state, event.body.run_id, event.body.mutation_id);
      return isRecorded(mutation) ? oneOrNone(decideRecovery(event, mutation)) : NOTHING;
    }
    // Commands to take up or drop what is parked are the loop's; the core is not asked about them.
    default: return NOTHING;
  }
}

type ToolEvent = { readonly type: 'ToolPlanned'; readonly body: ToolPlanned } | { readonly type: 'ToolExecuted'; readonly body: ToolExecuted };

function onTool(context: DecideContext, key: string, event: ToolEvent, policy: Policy): Decision {
  if (key !== event.body.run_id) return parked('KEY_MISMATCH', 'the record key must be the run id');
  const id = mutationIdOf(event.body);
  const mutation = mutationIn(context.state, event.body.run_id, id);
  const standing = event.type === 'ToolPlanned' ? standingOfIntent(event.body, mutation) : standingOfExecution(event.body, mutation);
  if (standing === 'known') return NOTHING;
  if (standing === 'conflict' && mutation !== undefined) return oneOrNone(recordConflict(event, mutation));
  const named = contractOf(context, event.body);
  if (named.kind !== 'found') return named.decision;
  try {
    return event.type === 'ToolPlanned' ? facts(recordIntent(id, event.body, named.contract, context.now, policy)) : onExecution(context, id, event.body, named.contract, policy);
  } catch (cause) {
    if (cause instanceof PayloadUnreadable) return parked(cause.code, cause.message);
    throw cause;
  }
}

function onExecution(context: DecideContext, id: string, event: ToolExecuted, contract: NamedContract | null, policy: Policy): Decision {
  const { tenant, run_id: runId, outcome } = event;
  if (event.assumption_refs.length > REFS_MAX) return parked('TOO_MANY_REFS', `an execution relies on ${REFS_MAX} refs at the most`);
  const mutation = mutationIn(context.state, runId, id);
  const judgements = outcome === 'failed' ? [] : judgeRefs(tenant, runId, event.assumption_refs, context.views.view('assumptions'));
  const bound = mutation === undefined ? [] : judgements.flatMap(({ judged }) => bindingsIn(context.state, refScope(tenant, judged.ref)).filter((one) => one.mutation_id === id));
  const recorded = recordExecution(id, event, contract, judgements.map(({ judged }) => judged), mutation, context.now, policy);
  return facts(recorded, ...contradictionsAtBinding(id, tenant, runId, judgements, bound));
}

type Named = { readonly kind: 'found'; readonly contract: NamedContract | null } | { readonly kind: 'wait'; readonly decision: Decision };

/** The contract an event names: under that digest and no other (A22). An unknown one may only not have been read yet. */
function contractOf({ views, viewsFresh }: DecideContext, { contract_digest: digest, capability, tenant }: ToolPlanned | ToolExecuted): Named {
  if (digest === null) return { kind: 'found', contract: null };
  const known = contractByDigest(views.view('contracts'), digest);
  if (known === undefined) {
    const decision = viewsFresh ? parked('CONTRACT_UNKNOWN', `no contract has the digest ${digest.toString('hex')}`) : { records: [], refresh: ['contracts'] };
    return { kind: 'wait', decision };
  }
  const owner = known.contract.tenant ?? '*';
  if (known.contract.name !== capability || (owner !== '*' && owner !== tenant)) {
    return { kind: 'wait', decision: parked('CONTRACT_MISMATCH', `the digest is that of ${known.contract.name}, owned by ${owner}`) };
  }
  return { kind: 'found', contract: known };
}

/** A statement is decided once the view has it: what binds from here on is judged at or after it. */
function onStatement({ state, views, viewsFresh }: DecideContext, input: RecordInput, body: Body<AssumptionStated>, effectsMax: number): Decision {
  if (body.verdict !== 'invalidated' || body.superseded) return NOTHING;
  if (views.view('assumptions').position(input.partition) < input.seq) {
    if (viewsFresh) throw new InvariantViolation('judged-at', `the view is behind a statement at ${input.partition}/${input.seq}`, 'partition');
    return { records: [], refresh: ['assumptions'] };
  }
  const scope = refScope(body.tenant, body.ref);
  return facts(...decideStatement(body, input.partition, input.seq, bindingsIn(state, scope), spreadsIn(state, scope), effectsMax));
}

function onTimer({ state, now }: DecideContext, { address: { kind, group, key } }: TimerInput, policy: Policy): Decision {
  if (kind === 'spread') return facts(...continueSpread(spreadsIn(state, group), bindingsIn(state, group), policy.effectsMax));
  if (kind === 'mutation') {
    const mutation = mutationIn(state, group, key);
    return mutation === undefined ? NOTHING : oneOrNone(windowEnd(mutation, now) ?? escalateExecution(mutation, now, policy));
  }
  const waiting = state.get(kind, group, key) as Trigger | undefined;
  const commit = waiting === undefined ? undefined : mutationIn(state, group, waiting.mutation_id);
  return waiting !== undefined && isRecorded(commit) ? oneOrNone(rollBack(commit, waiting)) : NOTHING;
}

function windowEnd(mutation: Mutation, now: number): MutationFact | null {
  return isRecorded(mutation) && mutation.expires_at !== null && mutation.expires_at <= now ? closeWindow(mutation) : null;
}

function oneOrNone(fact: MutationFact | null): Decision { return fact === null ? NOTHING : facts(fact); }

function parked(reason: ParkCode, detail: string): Decision { return { records: [], park: { reason, detail } }; }

interface Group { readonly kind: string; readonly group: string }

function needsOfEvent({ type, body }: MutationEvent): readonly Group[] {
  switch (type) {
    case 'AssumptionStated': return body.verdict === 'invalidated' ? needsOfRef(refScope(body.tenant, body.ref)) : [];
    case 'ToolExecuted': return [{ kind: 'mutation', group: body.run_id }, { kind: 'trigger', group: body.run_id }];
    case 'RollbackOpened': {
      const { rollback, recovery } = namesOf(body);
      return [{ kind: 'mutation', group: body.run_id }, { kind: 'trigger', group: body.run_id }, { kind: 'named', group: rollback }, { kind: 'named', group: recovery }];
    }
    case 'ToolPlanned':
    case 'LegDispatched':
    case 'StepOutcomeRecorded':
    case 'StepEscalated':
    case 'StepDenied': return [{ kind: 'mutation', group: body.run_id }];
    // The loop's own commands read nothing of the core's.
    default: return [];
  }
}

function needsOfTimer({ address: { kind, group } }: TimerInput): readonly Group[] {
  return kind === 'spread' ? needsOfRef(group) : [{ kind: 'mutation', group }, { kind: 'trigger', group }];
}

function needsOfRef(scope: string): readonly Group[] { return [{ kind: 'binding', group: scope }, { kind: 'spread', group: scope }]; }

// The catalogue admits only these types, and the codec has checked their shape.
function eventOf(input: RecordInput): MutationEvent { return { type: input.type, body: input.body } as unknown as MutationEvent; }
