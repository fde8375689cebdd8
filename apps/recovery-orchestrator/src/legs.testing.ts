// Legs of several steps, and switches over them, for specs of the orchestrator.
import { rollbackIdOf } from '@recourse/messages';
import { plainPayload } from '@recourse/contract';
import type { Decided, RecordInput } from '@recourse/event-log';
import type { Json } from '@recourse/kernel';
import type { LegReported, LegRequested, StepOutcome } from '@recourse/messages';
import { entrySaid, fact } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { stepIdOf } from './rules/step/opening.decisions.js';
import {
  answered,
  BALANCE_KEPT,
  BALANCE_ZERO,
  fallenInput,
  marked,
  observed,
  ref,
  terms,
  views,
} from './recoveries.testing.js';

/** A contract that lets its steps go by themselves, in legs. */
export const AUTO = terms({ impact: 'write', recovery_approval_mode: 'auto', max_attempts: 2 });

export const idOf = (place: number): string => `mut_${String(place).padStart(3, '0')}`;
export const stepOf = (place: number): string => stepIdOf(rollbackIdOf('acme', idOf(place)), idOf(place));

export interface MarkOptions {
  readonly terms?: typeof AUTO;
  readonly args?: Json;
  /** When its window ends. */
  readonly endsAt?: number;
}

/** The mark of an effect at its place in the run. */
export function markOf(place: number, more: MarkOptions = {}): ReturnType<typeof marked> {
  return marked({
    mutation_id: idOf(place),
    rollback_id: rollbackIdOf('acme', idOf(place)),
    recorded_seq: place,
    terms: more.terms ?? AUTO,
    ref: ref({
      mutation_id: idOf(place),
      idempotency_key: `key-${String(place)}`,
      reversal_args: plainPayload(more.args ?? { refund_id: 're_1' }),
      ...(more.endsAt === undefined ? {} : { reversal_expires_at: more.endsAt }),
    }),
  });
}

/** Effects that fell in one decision. */
export function fallen(places: readonly number[], more: MarkOptions = {}): RecordInput {
  const [first, ...others] = places.map((place) => markOf(place, more));
  if (first === undefined) throw new Error('nothing fell');
  return fallenInput(first, ...others);
}

/** What a report says of one step; observations follow from the outcome. */
export function told(place: number, outcome: StepOutcome): LegReported['steps'][number] {
  return {
    step_id: stepOf(place),
    outcome,
    observations: outcome === 'verified' ? [BALANCE_ZERO] : outcome === 'unverified' ? [BALANCE_KEPT] : [],
    error_kind: null,
    detail: null,
    external_transaction_ref: null,
    calls_done: 0,
  };
}

/** What a report says of a step whose tool its worker called, and which it saw to have worked. */
export function called(place: number): LegReported['steps'][number] {
  const answer = observed('execute', 'payments.reverse_refund', { reversed: true });
  return { ...told(place, 'verified'), observations: [answer, BALANCE_ZERO] };
}

export function reported(
  request: LegRequested,
  steps: LegReported['steps'],
  more: Partial<LegReported> = {},
): RecordInput {
  return answered(request, 'verified', [], { steps, ...more });
}

/** Verdicts on steps of one leg. */
export function verdicts(...of: readonly (readonly [place: number, outcome: string])[]): Decided {
  return fact('LegSettled', { members: of.map(([place, outcome]) => ({ step_id: stepOf(place), outcome })) });
}

export function phasesOf(run: CoreHarness): Readonly<Record<string, unknown>> {
  return Object.fromEntries(run.rows('step').map(({ doc }) => [doc['mutation_id'], doc['phase']]));
}

export function placesOf({ steps }: LegRequested): readonly number[] {
  return steps.map(({ call }) => Number(call.reverses_mutation_ref.slice('mut_'.length)));
}

export type SwitchScope =
  | { readonly over: 'tenant' }
  | { readonly over: 'agent'; readonly agent: string; readonly halts_recovery?: boolean }
  | { readonly over: 'capability'; readonly capability: string };

/** Views, and a hand on the kill switches in them. */
export function switchboard() {
  const both = views();
  const said = (
    type: 'EntryRegistered' | 'EntryRetired',
    name: string,
    scope: SwitchScope,
    tenant: string,
  ): RecordInput => {
    const body = { owner: 'ops', doc: 'd', scope, severity: 'sev1', runbook: 'r', reason: 'x' };
    return both.entries.append(name, entrySaid('kill_switch', { name, tenant, body }, type));
  };
  const on = (name: string, scope: SwitchScope, tenant = 'acme') => said('EntryRegistered', name, scope, tenant);
  const off = (name: string, scope: SwitchScope, tenant = 'acme') => said('EntryRetired', name, scope, tenant);
  return { views: both, on, off };
}
