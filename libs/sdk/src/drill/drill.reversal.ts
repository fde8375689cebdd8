// The calls of a reversal as a drill makes them, each seen to be made, and repeated under its key, before the next.
//
// Boundary: calls tools through the calls of its drill; records nothing.
import { argsAt, boundFacts, callAt, callCountOf, checksOf, plainPayload, stepAt } from '@recourse/contract';
import type { Binding, Contract } from '@recourse/contract';
import type { Clock, Json } from '@recourse/kernel';
import type { ContractTerms, LegStep, Observation, RecoveryCall } from '@recourse/messages';
import { comparesInTheWrite } from '../worker/leg.decisions.js';
import type { Answered, BoundStep, DrillCalls, Made } from './drill.calls.js';
import { CLEAN, drifted, notRun, ofCondition, ofShape, resultSchemaOf } from './drill.decisions.js';
import type { DrillPath, DrillVerdict } from './drill.decisions.js';
import type { Canary } from './drill.messages.js';

/** A reversal that a drill goes through. */
export interface DrilledReversal {
  readonly calls: DrillCalls;
  readonly contracts: readonly Contract[];
  readonly clock: Clock;
  readonly terms: ContractTerms;
  readonly capability: string;
  readonly key: string;
  readonly bound: Extract<Binding, { kind: 'bound' }>;
  readonly made: Made;
  /** What the stale-state check saw. */
  readonly checked: Json | undefined;
  readonly effectsUnder: Canary['effectsUnder'];
  readonly tell: (path: DrillPath, called: string, verdict: DrillVerdict) => void;
}

/** Makes, verifies and repeats the calls in their order; false where the first could not be made. */
export async function drillReversal(reversal: DrilledReversal): Promise<boolean> {
  const step = stepOf(reversal);
  const seen: Observation[] = [];
  for (let position = 1; position <= callCountOf(step.call); position += 1) {
    const one = stepAt(step, position, undefined);
    const args = argsAt(step.call, position, seen);
    if (one === null || args === undefined) {
      const missing = notRun('an earlier call of its reversal gives an argument, and it was not seen');
      reversal.tell('undo', callAt(step.call, position)?.capability ?? '', missing);
      return true;
    }
    if (!(await undone(reversal, one, args))) return position > 1;
    const last = await verified(reversal, one, args);
    if (last !== null) seen.push({ ...last, call: position });
    if (one.key_lifetime_ms !== null) await repeated(reversal, one, args);
  }
  return true;
}

/** What a call that acts is told: what to compare with as well, where its contract compares so. */
function acting({ made, checked }: DrilledReversal, one: LegStep, args: Json): BoundStep {
  return { args, made, expected: comparesInTheWrite(one) ? checked : undefined };
}

async function undone(reversal: DrilledReversal, one: LegStep, args: Json): Promise<boolean> {
  const { calls, contracts, tell } = reversal;
  const { capability, idempotency_key: key } = one.call;
  const answered = await calls.call(capability, 'execute', key, acting(reversal, one, args));
  tell('undo', capability, verdictOf(answered, contracts, capability, 'its answer'));
  return answered.kind === 'answered';
}

const UNCOUNTED = 'its effects were not counted: the canary has no effectsUnder';

/** The same call under the same key, as a worker repeats it that nobody answered: answered alike, and no second effect. */
async function repeated(reversal: DrilledReversal, one: LegStep, args: Json): Promise<void> {
  const { calls, effectsUnder, tell } = reversal;
  const { capability, idempotency_key: key } = one.call;
  const again = await calls.call(capability, 'execute', key, acting(reversal, one, args));
  if (again.kind === 'failed') tell('repeat', capability, again.verdict);
  // Its answer alone is that of a provider that did it twice as well (I2).
  else if (effectsUnder === undefined) tell('repeat', capability, notRun(UNCOUNTED));
  else tell('repeat', capability, ofCount(await calls.attempt(() => effectsUnder(key))));
}

function ofCount(counted: Answered): DrillVerdict {
  if (counted.kind === 'failed') return counted.verdict;
  return counted.value === 1
    ? CLEAN
    : drifted('behaviour', `two calls under one key had ${JSON.stringify(counted.value)} effects`);
}

/** Looks as often, and with the pauses, that the contract allows; what was seen last. */
async function verified(
  { calls, contracts, clock, made, tell }: DrilledReversal,
  one: LegStep,
  args: Json,
): Promise<Omit<Observation, 'call'> | null> {
  const { verify_capability: capability, success_condition: condition, verify_max_attempts: tries } = one;
  if (capability === null || condition === null) return null;
  const bound = boundFacts({ reversalArgs: args, externalRef: made.externalRef });
  const look = async (): Promise<readonly [Answered, DrillVerdict]> => {
    const answered = await calls.call(capability, 'verify', one.call.idempotency_key, { args, made });
    const shape = verdictOf(answered, contracts, capability, 'what is seen');
    if (answered.kind === 'failed' || shape.verdict !== 'clean') return [answered, shape];
    return [answered, ofCondition(condition, { observed: answered.value, bound, args: made.args }, true)];
  };
  let [answered, verdict] = await look();
  for (let tried = 1; tried < tries && verdict.drift === 'behaviour'; tried += 1) {
    await clock.sleep(one.verify_delay_ms);
    [answered, verdict] = await look();
  }
  const unseen = drifted('behaviour', `it was answered, and nobody sees it: ${String(verdict.detail)}`);
  tell('verify', capability, verdict.drift === 'behaviour' ? unseen : verdict);
  if (answered.kind === 'failed') return null;
  return { phase: 'verify', capability, observed: plainPayload(answered.value), observed_at: clock.now() };
}

function verdictOf(answered: Answered, contracts: readonly Contract[], capability: string, what: string): DrillVerdict {
  return answered.kind === 'failed'
    ? answered.verdict
    : ofShape(answered.value, resultSchemaOf(contracts, capability), what);
}

/** The step a worker would be asked for. */
function stepOf({ calls, terms, capability, key, bound, made }: DrilledReversal): LegStep {
  const call: RecoveryCall = {
    call_id: key,
    run_id: calls.runId,
    adapter_id: terms.adapter,
    capability,
    args: plainPayload(bound.args),
    approval_mode: 'network',
    policy_ref: null,
    idempotency_key: key,
    reverses_mutation_ref: key,
    then: bound.then,
  };
  return {
    step_id: key,
    call,
    agent_id: null,
    subject_ref: null,
    external_transaction_ref: made.externalRef,
    ...checksOf(terms),
    calls_done: 0,
  };
}
