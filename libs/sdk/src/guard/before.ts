// Everything a guard does before it calls a tool: each step lets the call go on, or says why not.
//
// Boundary: asks the ports; calls nothing that has an effect, but for the reversible part of a reservation, once all agree. In `observe` an objection is heard and the call goes on.
import { checkArgs, hasSideEffects, isUnsaid, toolFingerprint } from '@recourse/contract';
import type { ArgsProblem } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { classify } from '../context/classification.decisions.js';
import type { Action, Preparation } from '../producer/producer.js';
import { isUnsent } from '../producer/unsent.decisions.js';
import { releaseStatement } from '../release.js';
import { approve, reserve } from './asking.js';
import { contractProblems } from './contract-review.js';
import { readAnswer } from './answer.js';
import { copyOf } from './copied.js';
import { heldResult, pending, standingOf } from './earlier.js';
import { governed } from './governance.js';
import type { GuardedResult, GuardOptions } from './guard.messages.js';
import { calledOff, giveBack, objection, textOf, trouble, unlessCalledOff } from './objections.js';
import type { Numbered, Situation, Stop } from './objections.js';
import { intentProblem } from './recorded.js';
import { holds } from './same-effect.js';
import { stage, unstage } from './staging.js';
import type { Staged } from './staging.js';
import { unwrittenIn, written } from '../written.js';

/** A call that may be made. */
interface Ready {
  readonly priorValue: Json | null;
  readonly attempt: number;
}

/** Contract, arguments, what the registry says, earlier calls, prior value, dry run, the size of what is told, budget, people, staging, once more what the registry says, intent; in this order. */
export async function prepare(situation: Situation): Promise<Ready | Stop> {
  const { call } = situation;
  notedIfPersonal(situation);
  const looked = await unlessCalledOff(call, look(situation));
  if ('stop' in looked) return looked;
  const { priorValue, rehearsal, attempt } = looked;
  if (call.isRehearsal === true) return { stop: REHEARSED };
  const unheld = recordable(situation, { priorValue, rehearsal });
  if (unheld !== null) return unheld;
  const numbered = { ...situation, attempt };
  const reserved = await reserve(numbered);
  if ('stop' in reserved) return reserved;
  const stopped = await agreed(numbered, { rehearsal, ...reserved });
  if (stopped !== null) return stopped;
  const isHeld = isLeftToLedger(situation);
  const staged = await stage(numbered, isHeld);
  if ('stop' in staged) return staged;
  const unpublished =
    (await stillWanted(situation, staged)) ??
    (await announce(situation, {
      isHeld,
      priorValue,
      rehearsal,
      ...staged,
    }));
  if (unpublished !== null) {
    // Nothing of an effect that may come all the same (E1).
    await unstage(situation, staged);
    await giveBack(numbered);
    return unpublished;
  }
  return hold(situation) ?? { priorValue, attempt };
}

/** What is found before anybody reserves or agrees; of a call that is called off meanwhile, nothing more is asked. */
async function look(situation: Situation): Promise<Stop | (Ready & { readonly rehearsal: Json })> {
  const { call } = situation;
  const unfit = lawful(situation) ?? (await fits(situation)) ?? (await permitted(situation));
  if (unfit !== null) return unfit;
  const found = calledOff(call) ?? (await standingOf(situation));
  if ('stop' in found) return found;
  const captured = calledOff(call) ?? (await capture(situation));
  if ('stop' in captured) return captured;
  const rehearsed = calledOff(call) ?? (await rehearse(situation));
  return 'stop' in rehearsed ? rehearsed : { ...found, ...captured, ...rehearsed };
}

/**
 * What may have changed while others were waited for: is the call wanted, and what does the registry say; `observe` heard that already.
 * What nobody knows to be staged is given back by a cancel, which its intent has to come before (R2).
 */
async function stillWanted(situation: Situation, { isUnknown }: Staged): Promise<Stop | null> {
  const { call, options } = situation;
  if (isUnknown === true) return null;
  const off = calledOff(call);
  return off !== null || options.mode !== 'enforce' ? off : unlessCalledOff(call, permitted(situation));
}

/** Asks people; whoever called may have called it off meanwhile. */
async function agreed(situation: Numbered, question: Parameters<typeof approve>[1]): Promise<Stop | null> {
  const stopped = await approve(situation, question);
  if (stopped !== null) return stopped;
  const off = calledOff(situation.call);
  if (off !== null) await giveBack(situation);
  return off;
}

/** What could never be recorded is not made (L7). */
function recordable({ action, options }: Situation, preparation: Preparation): Stop | null {
  const problem = intentProblem(action, options.contract, preparation);
  return problem === null ? null : objection(options, problem);
}

/** What would not register is not acted under: a contract from a file is held to what one from the registry is. */
function lawful({ action, options }: Situation): Stop | null {
  const problems = contractProblems(options.contract);
  const refused = problems.length > 0 ? objection(options, { code: 'CONTRACT_REFUSED', problems }) : null;
  return refused ?? approved(options) ?? purposeful(action, options);
}

/** An effect without an objective could be made, and nobody could be asked to agree to its undoing (C55); nor to what asks first. */
function purposeful({ objective }: Action, options: GuardOptions): Stop | null {
  const asksFirst = (options.contract.forward_approval ?? 'policy') !== 'policy';
  return !isUnsaid(objective) || !(hasSideEffects(options.contract) || asksFirst)
    ? null
    : objection(
        options,
        trouble(
          'OBJECTIVE_MISSING',
          'the run says nothing of what it is to achieve: pass `objective`, a sentence for whoever has to judge it later',
        ),
      );
}

/** An objective is read by whoever decides and is sealed under no key, so that no erasure reaches what it says of somebody. */
function notedIfPersonal({ call: { recovery }, action: { objective }, options }: Situation): void {
  // A recovery is done for the reason that a person gave.
  const found = recovery === undefined ? classify(objective).findings.map(({ detector }) => detector) : [];
  if (found.length === 0) return;
  const why = `the objective seems to hold ${found.join(', ')}, and no erasure reaches it: name people by an id there`;
  options.onTrouble?.(trouble('OBJECTIVE_PERSONAL', why));
}

/** The tool as its contract describes it is the one that was approved (D7). */
function approved(options: GuardOptions): Stop | null {
  const { toolFingerprint: expected, contract } = options;
  const found = expected === undefined ? undefined : toolFingerprint(contract);
  return found === expected
    ? null
    : objection(
        options,
        trouble(
          'TOOL_CHANGED',
          `the tool is ${found ?? ''}, approved is ${expected ?? ''}: register it and have it confirmed`,
        ),
      );
}

async function fits({ tool: { schema }, call: { args }, options }: Situation): Promise<Stop | null> {
  // zod let only JSON in.
  const found: readonly ArgsProblem[] = checkArgs(args, options.contract.args_schema as Json);
  const issues = schema === undefined ? [] : await issuesIn(schema, copyOf(args));
  const problems = [...found, ...issues.map(({ message }) => ({ code: 'ARGS_VALUE', message }))];
  return problems.length > 0 ? objection(options, { code: 'ARGS_INVALID', problems }) : null;
}

/** What a schema finds; one that throws finds that it cannot tell. */
async function issuesIn(
  schema: NonNullable<Situation['tool']['schema']>,
  args: Json,
): Promise<readonly { readonly message: string }[]> {
  try {
    return (await schema['~standard'].validate(args)).issues ?? [];
  } catch (thrown) {
    return [{ message: `the schema of the tool threw: ${textOf(thrown)}` }];
  }
}

/** A capability is the intent a charter speaks of. */
async function permitted({ call, action, options }: Situation): Promise<Stop | null> {
  const found = await governed(call, action, options);
  return found === null ? null : objection(options, trouble(found.code, found.reason));
}

/** A prior value that is there and cannot be read stops the call, and so does one that the contract knows nothing of (A9). */
async function capture({ tool, call, options }: Situation): Promise<Stop | { readonly priorValue: Json | null }> {
  const { contract } = options;
  // Nothing undoes a compensation, so nothing would be put back.
  if (call.recovery !== undefined) return { priorValue: null };
  const { value: priorValue, problem } = await read(() => tool.capturePriorValue?.(copyOf(call.args)));
  const why = priorValue === null && contract.requires_prior_value_capture === true ? 'there is none' : null;
  const unread = problem ?? why;
  const found =
    unread !== null
      ? trouble('PRIOR_VALUE_MISSING', `the value to be overwritten could not be read: ${unread}`)
      : priorValue !== null && isHidden(contract)
        ? trouble(
            'OVERWRITE_UNDECLARED',
            'something is there that the contract says neither to overwrite nor to capture',
          )
        : null;
  return (found === null ? null : objection(options, found)) ?? { priorValue };
}

function isHidden(contract: GuardOptions['contract']): boolean {
  return hasSideEffects(contract) && contract.overwrites !== true && contract.requires_prior_value_capture !== true;
}

/** What somebody hears who asked for no more than a dry run. */
export const REHEARSED: GuardedResult = { kind: 'rehearsed', mutation_refs: [], error_kind: null };

/** Runs the dry run the contract names; a tool may have one of its own accord. A compensation has none: it is for people to see before an effect. */
export async function rehearse({ tool, call, options }: Situation): Promise<Stop | { readonly rehearsal: Json }> {
  const isNamed = options.contract.techniques?.dry_run_capability !== undefined && call.recovery === undefined;
  const isDue = isNamed || call.isRehearsal === true;
  if (!isDue) return { rehearsal: null };
  if (tool.rehearse === undefined)
    return objection(options, trouble('REHEARSAL_MISSING', 'the tool has no dry run')) ?? { rehearsal: null };
  try {
    const { written: answer, error } = readAnswer(await tool.rehearse(copyOf(call.args)));
    const why = error?.verdict.kind ?? unwrittenIn(answer);
    const found = why === null ? null : objection(options, trouble('REHEARSAL_FAILED', why));
    return found ?? { rehearsal: answer.json };
  } catch (error) {
    return objection(options, trouble('REHEARSAL_FAILED', textOf(error))) ?? { rehearsal: null };
  }
}

/**
 * Publishes the intent, and before it what its release ref stands for.
 *
 * Shape:  the ledger lets a held effect go whose intent it has: where nobody knows whether it does, the call is not refused.
 */
async function announce({ call, action, options }: Situation, preparation: Preparation): Promise<Stop | null> {
  const { producer, clock } = options;
  let isBegun = false;
  try {
    if (call.run.release !== undefined)
      await producer.assumptionDeclared(releaseStatement(action.tenant, call.run.release));
    isBegun = true;
    await producer.toolPlanned(action, clock.now(), preparation);
    holds(action, options);
    return null;
  } catch (cause) {
    const mayBeTold = isBegun && preparation.isHeld === true && !isUnsent(cause);
    const found = trouble('INTENT_NOT_PUBLISHED', textOf(cause));
    const stopped = objection(options, found, mayBeTold ? pending(action) : undefined);
    if (mayBeTold || stopped === null) holds(action, options);
    return stopped;
  }
}

/** A held effect is let go by the ledger, through a worker: the intent is all there is to do here. */
function hold(situation: Situation): Stop | null {
  const { action, options } = situation;
  if (!isHoldDue(situation)) return null;
  if (isLeftToLedger(situation)) return { stop: heldResult(action, options) };
  return objection(options, trouble('HOLD_SKIPPED', 'the effect is let go at once'));
}

function isHoldDue({ call, options }: Situation): boolean {
  return (options.contract.commit_hold_ms ?? 0) > 0 && call.recovery === undefined;
}

/** Is this effect let go by the ledger, and not here? */
function isLeftToLedger(situation: Situation): boolean {
  return situation.options.mode === 'enforce' && isHoldDue(situation);
}

/** Null where nothing is there; a `problem` where nobody knows. */
async function read(
  ask: () => Promise<Json> | undefined,
): Promise<{ readonly value: Json; readonly problem: string | null }> {
  try {
    const answer = written(await ask());
    // What is not whole cannot be restored from the record.
    const problem = unwrittenIn(answer);
    return { value: problem === null ? answer.json : null, problem };
  } catch (cause) {
    return { value: null, problem: textOf(cause) };
  }
}
