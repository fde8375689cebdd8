// Which tools a report points out: those whose outcomes often cannot be proven (C72).
import type { DecisionReason } from '../rules/decision/recovery.decisions.js';
import type { EscalationReason } from '../rules/step/step.messages.js';

/** Reasons that say nobody could prove what happened, or what would undo it; the rest are known ends. */
const UNPROVABLE: readonly string[] = [
  'OUTCOME_UNKNOWN',
  'VERIFICATION_FAILED',
  'KEY_LIFETIME_OVER',
  'FORWARD_UNRESOLVED',
  'STEP_RESULT_MISSING',
  'FORWARD_UNCERTAIN',
  'VERIFICATION_MISSING',
  'HANDLE_INCOMPLETE',
] as const satisfies readonly (EscalationReason | DecisionReason)[];

/** A tool is pointed out from so many such steps on, when they are at least so large a part of all that ended. */
const POINTED_OUT = { steps: 3, share: 0.1 } as const;

/** Steps of a tool that landed with a person for one reason, out of those that ended. */
export interface Reasoned {
  readonly tenant: string;
  readonly capability: string;
  readonly reason: string;
  readonly steps: number;
  readonly ended: number;
}

export interface PointedOut {
  readonly tenant: string;
  readonly capability: string;
  /** Steps whose outcome could not be proven. */
  readonly unprovable: number;
  readonly ended: number;
  /** Share of those that ended, from 0 to 1. */
  readonly share: number;
}

export function isUnprovable(reason: string): boolean {
  return UNPROVABLE.includes(reason);
}

/** Share of those that ended, from 0 to 1, to four digits. */
export function shareOf(steps: number, ended: number): number {
  return ended === 0 ? 0 : Math.round((steps / ended) * 10_000) / 10_000;
}

/** Tools whose steps often end unproven, the largest part first. */
export function pointedOut(reasons: readonly Reasoned[]): readonly PointedOut[] {
  const tools = new Map<string, PointedOut>();
  for (const { tenant, capability, reason, steps, ended } of reasons) {
    if (!isUnprovable(reason)) continue;
    const id = JSON.stringify([tenant, capability]);
    const unprovable = (tools.get(id)?.unprovable ?? 0) + steps;
    tools.set(id, { tenant, capability, unprovable, ended, share: shareOf(unprovable, ended) });
  }
  return [...tools.values()]
    .filter(({ unprovable, share }) => unprovable >= POINTED_OUT.steps && share >= POINTED_OUT.share)
    .sort((a, b) => b.share - a.share || b.unprovable - a.unprovable);
}
