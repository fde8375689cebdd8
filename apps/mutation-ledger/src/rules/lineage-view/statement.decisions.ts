// What a source would cause by saying that an assumption is false: a drill of it. Nothing is stated, recorded or told.
//
// Boundary: pure. Admission decides, as it would about the statement itself; how much of a burst is left is not asked, since a
// drill is none.
import type { Evidence } from '@recourse/messages';
import { admission, scopesOf, weightOf } from '../admission/admission.decisions.js';
import type { Scope, Seen } from '../admission/admission.decisions.js';
import type { AdmissionLimits, HoldReason } from '../admission/admission.messages.js';
import { fallOf } from './preview.decisions.js';
import type { Fall, FallAsked } from './preview.decisions.js';

/** What would be said. */
export interface Said {
  readonly tenant: string;
  readonly source: string;
  readonly ref: string;
}

export interface StatementPreview extends Fall {
  readonly source: string;
  readonly ref: string;
  /** Commits that rely on the ref by its name. */
  readonly relying: number;
  readonly weight_permille: number;
  /** Below it a person is asked; null where trust is not weighed. */
  readonly threshold_permille: number | null;
  /** Why a person would be asked before anything falls; null where it would fall at once. */
  readonly held: { readonly reason: HoldReason; readonly detail: string } | null;
}

export interface DrillAsked {
  readonly said: Said;
  readonly fall: FallAsked;
  readonly known: Pick<Seen, 'source' | 'declared'>;
  /** What an open breaker is over, of what the words fall under. */
  readonly open: readonly Scope[];
  readonly limits: AdmissionLimits;
  readonly now: number;
}

/** The words of a drill, as admission reads them: no event that was ever stated has this id. */
export function evidenceOf({ source, ref }: Said, now: number): Evidence {
  return {
    kind: 'observation',
    event_id: 'drill',
    ref,
    source,
    statement: null,
    stated_at: now,
    partition: 0,
    position: 0,
    root: null,
  };
}

/** Breakers that a statement falls under. */
export function scopesOfSaid(said: Said, now: number): readonly Scope[] {
  return scopesOf(said.tenant, evidenceOf(said, now));
}

export function statementPreview({ said, fall, known, open, limits, now }: DrillAsked): StatementPreview {
  const evidence = evidenceOf(said, now);
  const scopes = scopesOfSaid(said, now).map((scope) => ({
    scope,
    storm: undefined,
    breaker: open.some((one) => one.scope === scope.scope && one.name === scope.name)
      ? ({ phase: 'open' } as const)
      : undefined,
  }));
  const asked = { tenant: said.tenant, evidence, isCommand: false, isAgain: false, isOwn: false };
  const found = admission(asked, { ...known, scopes, closure: undefined }, limits, now);
  return {
    source: said.source,
    ref: said.ref,
    relying: fall.roots.length,
    weight_permille: weightOf(known),
    threshold_permille: limits.trustThresholdPermille,
    held: found.kind === 'hold' ? { reason: found.reason, detail: found.detail } : null,
    ...fallOf(fall),
  };
}
