// Mutants of observers: each switches off one rule of how another worker is asked to look, or of what its answer counts for.
import { plainPayload } from '@recourse/contract';
import type { DecideContext, Doc, Input, RecordInput, ServiceCore } from '@recourse/event-log';
import type { Bias } from './bias.js';
import { OBSERVE } from './contracts.js';
import { answering, asking, deciding, reading, RECOVERIES } from './core-mutations.js';
import type { Mutation } from './mutation.js';
import { STORIES, TENANTS } from './stories.js';

/** Much is undone, and every undo is observed. */
const OBSERVED: Bias = {
  profile: { observed: TENANTS, toolTrouble: 0.15 },
  stories: { invalidate: 16, person: 40, execute: 34, saga: 2 * STORIES.saga },
};

/** The rules, by name. */
export const OBSERVER_MUTANTS: Readonly<Record<string, { readonly mutation: Mutation; readonly bias: Bias }>> = {
  'observer-unasked': {
    mutation: {
      core: (core) =>
        answering(core, 'LegReported', (real, context, input) => real.decide(context, spokenAlone(input))),
    },
    bias: OBSERVED,
  },
  'observer-asked-once': {
    mutation: { core: (core) => looking(core, (look) => ({ ...look, round: 3 })) },
    bias: OBSERVED,
  },
  'observer-silent': { mutation: { core: silenceConfirms }, bias: OBSERVED },
  'look-for-act': { mutation: { core: (core) => looking(core, withoutActed) }, bias: OBSERVED },
  'look-again': { mutation: { core: firstAnswered }, bias: OBSERVED },
};

/** Nobody observes what its sender does. */
function spokenAlone(input: RecordInput): RecordInput {
  return input.speaker === undefined ? input : { ...input, speaker: { ...input.speaker, observers: [] } };
}

/** Changes looks that are out, as decisions read them. */
function looking(core: ServiceCore, change: (look: Doc) => Doc): ServiceCore {
  return asking(core, RECOVERIES, (context) => ({
    ...context,
    state: reading(context.state, 'step', (doc) => {
      const look = lookOf(doc);
      return look === null ? doc : { ...doc, look: change(look) };
    }),
  }));
}

/** What the worker did that acted is forgotten over the look. */
function withoutActed({ acted: _acted, ...look }: Doc): Doc {
  return look;
}

/** The look of an observer that is out; null while there is none. */
function lookOf(doc: Doc | undefined): Doc | null {
  const look = (doc?.['look'] ?? null) as Doc | null; // rows of this kind hold a look or null
  return look === null || look['not_by'] === null ? null : look;
}

/** An observer that says nothing in time has seen it. */
function silenceConfirms(core: ServiceCore): ServiceCore {
  if (core.log !== RECOVERIES) return core;
  return { ...core, decide: (context, input) => core.decide(context, confirmed(context, input) ?? input) };
}

function confirmed({ state, now }: DecideContext, input: Input): RecordInput | null {
  if (input.source !== 'timer' || input.address.kind !== 'step') return null;
  const { group, key } = input.address;
  const step = state.get('step', group, key);
  const look = lookOf(step);
  if (step === undefined || look === null || step['due_at'] !== input.dueAt || now < input.dueAt) return null;
  const { leg_id, lease_id } = look;
  const { tenant } = step;
  const seen = { phase: 'verify', capability: OBSERVE, observed: plainPayload({ status: 'reversed' }) };
  const told = { step_id: key, outcome: 'verified', error_kind: null, detail: null, calls_done: 1 };
  const steps = [{ ...told, observations: [{ ...seen, call: 1, observed_at: now }], external_transaction_ref: null }];
  const body: Doc = {
    leg_id,
    lease_id,
    tenant,
    run_id: group,
    attempt: 1,
    worker_id: 'observer',
    reported_at: now,
    complete: true,
    steps,
  };
  const speaker = { keyId: 'observer-1', roles: ['observer'], names: ['payments'], tenants: ['*'] } as const;
  const place = { topic: 'recourse.tool-results', partition: 0, offset: 0, seq: 0, hash: Buffer.alloc(32) };
  return { source: 'wire', ...place, key: group, type: 'LegReported', body, speaker };
}

/** What is seen in a later look is told as an answer to the first. */
function firstAnswered(core: ServiceCore): ServiceCore {
  const first = new Map<string, unknown>();
  return deciding(core, RECOVERIES, ({ type, body }) => {
    const step = String(body['step_id']);
    if (type === 'LookDispatched' && body['not_by'] !== null && !first.has(step)) first.set(step, body['leg_id']);
    if (type !== 'LookAnswered') return body;
    const leg_id = first.get(step) ?? body['leg_id'];
    first.delete(step);
    return { ...body, leg_id };
  });
}
