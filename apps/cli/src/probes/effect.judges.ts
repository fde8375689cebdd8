// What probes conclude about what happened: effects, their ways back, steps. Pure.
import { personKey } from '@recourse/kernel';
import { docOf } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import { countText } from '../output/count-text.js';
import { windowed } from './contract.judges.js';
import { fail, none, partial, pass, worst } from './probe.js';
import type { Finding } from './probe.js';
import { agentOf, happened, textsOf } from './scope.js';
import type { Scope } from './scope.js';

const NOTHING_DONE = 'no effect is on record: let the agent act once, in a tenant of its own';
/** A rehearsal and a drill record nothing. */
const UNDO_ONE = 'let it act in a tenant of its own, and undo what it did (`recourse undo`)';
/** Timers have gone off by then. */
const TIMER_SLACK_MS = 60_000;
const UNDOABLE: readonly unknown[] = ['reversible', 'compensable'];

const nameOf = (row: Doc): string => `${String(row['mutation_id'])} (${String(row['capability'])})`;
const refOf = (row: Doc): Doc => docOf(row['ref']);
const fell = (row: Doc): boolean => typeof row['rollback_id'] === 'string';
const isManual = (row: Doc): boolean =>
  ['manual_runbook', 'not_supported'].includes(String(docOf(docOf(row['terms'])['compensation'])['mode']));

/** It happened under no contract: nobody knows how to undo it, whatever stands for its capability today. */
const isUncontracted = (row: Doc): boolean => row['terms'] === null || row['reason'] === 'UNCONTRACTED';

/** Every effect that can be undone carries the bound call that undoes it, and none happened without a contract (A95). */
export function boundBack(scope: Scope): Finding {
  const [done, bare] = [happened(scope), happened(scope).filter(isUncontracted)];
  const undoable = done.filter((row) => !isUncontracted(row) && UNDOABLE.includes(refOf(row)['reversal_class']));
  if (undoable.length + bare.length === 0) return fail(NOTHING_DONE);
  return none(
    [
      ...bare.map((row) => `${nameOf(row)}: it happened without a contract`),
      ...undoable
        .filter((row) => !isManual(row) && docOf(refOf(row)['reversal_args'])['sha256'] === undefined)
        .map((row) => `${nameOf(row)}: nothing is bound (${String(row['reason'])})`),
    ],
    `${countText(undoable.length, 'effect carries its', 'effects carry their')} way back`,
  );
}

/** Every effect names what it relied on (A95). */
export function boundRefs(scope: Scope): Finding {
  const done = happened(scope);
  if (done.length === 0) return fail(NOTHING_DONE);
  return none(
    done
      .filter((row) => textsOf(refOf(row)['assumption_refs']).length === 0)
      .map((row) => `${nameOf(row)}: relies on nothing`),
    countText(done.length, 'effect names what it relies on', 'effects name what they rely on'),
  );
}

const OPEN: readonly unknown[] = ['planned', 'executing', 'uncertain'];

/** From pending_commit to an end, or to somebody who owes it one (A96). */
export function tracked({ effects }: Scope): Finding {
  if (effects.length === 0) return fail(NOTHING_DONE);
  const unowned = effects.filter((row) => {
    const awaited = docOf(row['awaited']);
    return (
      OPEN.includes(row['execution_state']) &&
      (typeof awaited['owner'] !== 'string' || typeof awaited['deadline_at'] !== 'number')
    );
  });
  const late = effects.filter((row) => docOf(row['awaited'])['is_overdue'] === true);
  const isAnnounced = effects.some((row) => row['planned_sha256'] !== null && row['planned_sha256'] !== undefined);
  return worst(
    none(
      unowned.map((row) => `${nameOf(row)}: ${String(row['execution_state'])}, and nobody owes its end`),
      `${countText(effects.length, 'effect has', 'effects have')} an end, or an owner`,
    ),
    late.length === 0 ? pass() : partial(...late.map((row) => `${nameOf(row)}: its end is overdue`)),
    isAnnounced ? pass() : partial('no effect was announced before it happened: none was ever pending_commit'),
  );
}

/** Handles carry windows, and what ran out of its window is with a person (A97). */
export function expiring(scope: Scope): Finding {
  const { acting, seen, steps } = scope;
  if (acting.length === 0 && happened(scope).length === 0) return fail(NOTHING_DONE);
  const now = seen.clock.ok ? seen.clock.value : 0;
  const bound = happened(scope).filter((row) => docOf(refOf(row)['reversal_args'])['sha256'] !== undefined);
  return none(
    [
      ...windowed(scope),
      ...bound
        .filter((row) => typeof refOf(row)['reversal_expires_at'] !== 'number')
        .map((row) => `${nameOf(row)}: no window`),
      ...bound
        .filter(
          (row) => row['recoverability'] === 'reversal_available' && Number(row['expires_at']) + TIMER_SLACK_MS < now,
        )
        .map((row) => `${nameOf(row)}: said to be available after its window`),
      ...bound
        .filter(
          (row) => row['recoverability'] === 'reversal_expired' && fell(row) && !steps.has(String(row['mutation_id'])),
        )
        .map((row) => `${nameOf(row)}: fell after its window, and nobody was asked`),
    ],
    `${String(bound.length)} handles carry their window`,
  );
}

/** The loop is on, every fall has its step, and at least one undo was seen through: readiness is no matter of prevention (A93, A98). */
export function recovers({ effects, steps, seen }: Scope): Finding {
  const isOn = seen.ready.ok && seen.ready.value['recoveries'] === true;
  const orphans = effects.filter((row) => fell(row) && !steps.has(String(row['mutation_id'])));
  const undone = effects.filter(isUndone);
  return worst(
    isOn ? pass('the loop of recoveries is on') : fail('the loop of recoveries is not ready'),
    none(
      orphans.map((row) => `${nameOf(row)}: fell, and no step was opened`),
      `${countText(effects.filter(fell).length, 'fall has', 'falls have')} a step`,
    ),
    undone.length > 0
      ? pass(`${countText(undone.length, 'effect was', 'effects were')} undone, and seen to be`)
      : partial(`nothing of it was ever undone and verified: ${UNDO_ONE}`),
  );
}

const isUndone = (row: Doc): boolean => row['recoverability'] === 'compensated' && row['is_seen_undone'] === true;

/** Where somebody had to agree, somebody did, and not the agent (A99). */
export function agreed({ effects, steps }: Scope): Finding {
  const own = effects.map((row) => steps.get(String(row['mutation_id']))).filter((step) => step !== undefined);
  if (own.length === 0) return partial(`no recovery of it was ever decided: ${UNDO_ONE}`);
  const went = own.filter((step) => typeof step['first_dispatched_at'] === 'number');
  return none(
    went.flatMap((step) => {
      const approvals = listOf(step['approvals']).map(docOf);
      const isGlass = listOf(step['glass']).length > 0;
      const people = new Set(approvals.map(({ by }) => personKey(String(by))));
      const agents = [agentOf(step), personKey(String(docOf(step['execution'])['initiator']))];
      const name = `${String(step['step_id'])} (${String(step['mutation_id'])})`;
      return [
        ...(people.size < Number(step['required_approvals']) && !isGlass
          ? [`${name}: went with ${String(people.size)} of ${String(step['required_approvals'])} approvals`]
          : []),
        ...[...people].filter((one) => agents.includes(one)).map((one) => `${name}: ${one} approved their own action`),
      ];
    }),
    `${String(went.length)} recoveries went as their contracts ask`,
  );
}

/** Nothing counts as undone that nobody saw (A99). */
export function seenUndone({ effects }: Scope): Finding {
  return none(
    effects
      .filter((row) => row['recoverability'] === 'compensated' && row['is_seen_undone'] !== true)
      .map((row) => `${nameOf(row)}: compensated, and nobody saw it`),
    `${countText(effects.filter(isUndone).length, 'effect counts', 'effects count')} as undone, each seen`,
  );
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
