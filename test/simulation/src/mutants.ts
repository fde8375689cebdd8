// The checker is checked: each mutant switches one rule off, at a port, a core or a rule of loop or worker, and nothing else.
import { plainPayload } from '@recourse/contract';
import type {
  DecideContext,
  Decided,
  Decision,
  Doc,
  Input,
  PartitionStore,
  RecordInput,
  Sealing,
  ServiceCore,
  StateView,
} from '@recourse/event-log';
import type { LogProducer, SendOutcome } from '@recourse/kafka';
import type { ClaimStore } from '@recourse/sdk';
import { CAPABILITY_OF, LEAD, OBSERVE } from './contracts.js';
import { CONSUMER_MUTANTS } from './consumer-mutants.js';
import { ERASURE_MUTANTS } from './erasure-mutants.js';
import { LINEAGE_MUTANTS } from './lineage-mutants.js';
import type { Bias } from './bias.js';
import { answering, asking, BUDGETS, deciding, evolving, MUTATIONS, reading, RECOVERIES } from './core-mutations.js';
import { LEG_MUTANTS } from './leg-mutants.js';
import { LOOP_MUTANTS } from './loop-mutants.js';
import { MEMBER_MUTANTS } from './member-mutants.js';
import { OBSERVER_MUTANTS } from './observer-mutants.js';
import type { Mutation } from './mutation.js';
import { ORDINARY } from './profile.js';
import { STORIES } from './stories.js';

export interface Mutant {
  readonly mutation: Mutation;
  /** A world that shows the rule; the same seeds pass in it with every rule on. */
  readonly bias?: Bias;
}

const UNREST = { crash: 10, zombie: 6, freeze: 6, snapshot: 2, restore: 2, wipe: 1, clock: 1 } as const;
const LATE_WORKERS = { crash: 6, zombie: 8, freeze: 14, snapshot: 1, restore: 1, wipe: 0, clock: 1 } as const;
const RECOVERING = { invalidate: 16, person: 40, execute: 34 } as const;

/** Every rule a run can be made to miss, by its name in the issue. */
export const MUTANTS: Readonly<Record<string, Mutant>> = {
  L2: {
    mutation: { core: (core, { now }) => evolving(core, RECOVERIES, (change) => ({ ...change, looked_at: now() })) },
  },
  L4: {
    mutation: {
      logProducer: (producer, { now }) => ({
        ...closing(producer),
        send: (topic, partition, records) => torn(producer, topic, partition, records, now() % 5 === 0),
      }),
    },
  },
  L5: {
    mutation: {
      logProducer: (producer, { endOf }) => ({
        ...closing(producer),
        send: (topic, partition, records) => hopeful(producer.send(topic, partition, records), endOf(topic, partition)),
      }),
    },
  },
  L7: {
    mutation: { store: (store) => unfenced(store) },
    bias: { profile: { chaos: { ...UNREST, freeze: 16, restore: 6 }, chaosEveryMs: 350 } },
  },
  sealing: { mutation: { sealing: () => null } },
  'sealing-durable': { mutation: { sealing: undurable } },
  L11: {
    mutation: { leg: (leg) => ({ ...leg, not_after: Number.MAX_SAFE_INTEGER }) },
    bias: {
      profile: {
        chaos: LATE_WORKERS,
        chaosEveryMs: 350,
        leaseMs: 2_000,
        freezeMaxMs: 15_000,
        terms: { windowMs: 12_000, keyLifetimeMs: 5_000, callTimeoutMs: 800, maxAttempts: 3 },
      },
      stories: RECOVERING,
    },
  },
  'L11-abandon': {
    mutation: {
      core: (core, { now }) =>
        deciding(core, RECOVERIES, (record) =>
          record.type === 'LegDispatched' ? { ...record.body, answer_by: Math.floor(now()) + 20 } : record.body,
        ),
    },
    bias: {
      profile: {
        chaos: LATE_WORKERS,
        chaosEveryMs: 500,
        toolTrouble: 0.3,
        terms: { ...ORDINARY.terms, maxAttempts: 1 },
      },
      stories: { ...RECOVERING, person: 70 },
    },
  },
  'L11-reconcile': {
    mutation: { leg: (leg) => ({ ...leg, reconcile_first: false }) },
    bias: { profile: { toolTrouble: 0.3 }, stories: RECOVERING },
  },
  'L11-claim': {
    mutation: { claims: ungranted },
    bias: {
      profile: { toolTrouble: 0.2, chaos: { ...LATE_WORKERS, crash: 16 }, chaosEveryMs: 400, sendTrouble: 0.08 },
      stories: RECOVERING,
    },
  },
  'source-trust': {
    mutation: { trustsAll: true },
    bias: { profile: { isCareful: true }, stories: { invalidate: 16 } },
  },
  L12: {
    mutation: {
      core: (core) =>
        asking(core, MUTATIONS, (context, input) =>
          isTool(input) ? { ...context, state: without(context.state, 'mutation') } : context,
        ),
    },
  },
  'judged-at': {
    mutation: {
      core: (core) =>
        asking(core, MUTATIONS, (context, input) =>
          isTool(input) ? { ...context, views: judgedAtStart(context) } : context,
        ),
    },
    bias: { stories: { ...STORIES, flip: 20, reaffirm: 10 } },
  },
  lineage: {
    mutation: {
      core: (core) =>
        asking(core, MUTATIONS, (context, input) =>
          isTool(input) ? { ...context, views: allStanding(context) } : context,
        ),
    },
    bias: { stories: { ...STORIES, invalidate: 16, execute: 50 } },
  },
  'children-first': {
    mutation: {
      core: (core) =>
        asking(core, RECOVERIES, (context) => ({ ...context, state: without(context.state, 'dependent') })),
    },
    bias: { stories: { ...STORIES, invalidate: 20, execute: 50 } },
  },
  'approval-reuse': {
    mutation: { core: (core) => answering(core, 'ApproveStep', reused) },
    bias: { stories: { ...RECOVERING, invalidate: 24 } },
  },
  digest: {
    mutation: {
      core: (core) =>
        answering(core, 'ApproveStep', (real, context, input) =>
          real.decide(context, { ...input, body: { ...input.body, action_digest: digestIn(context, input) } }),
        ),
    },
    bias: { stories: RECOVERING },
  },
  'self-approval': {
    mutation: {
      core: (core) =>
        answering(core, 'ApproveStep', (real, context, input) =>
          real.decide({ ...context, state: anonymous(context.state) }, input),
        ),
    },
    bias: { stories: RECOVERING },
  },
  'expiry-margin': {
    mutation: { marginMs: 0 },
    bias: {
      profile: {
        chaos: LATE_WORKERS,
        chaosEveryMs: 400,
        leaseMs: 30_000,
        toolTrouble: 0.3,
        workerSkewMs: 950,
        terms: { windowMs: 6_000, keyLifetimeMs: 60_000, callTimeoutMs: 1_200, maxAttempts: 3 },
      },
      stories: { ...RECOVERING, person: 80 },
    },
  },
  order: {
    mutation: {
      core: (core) => asking(core, RECOVERIES, (context) => ({ ...context, state: unordered(context.state) })),
    },
    bias: { stories: { ...STORIES, undo: 20, person: 40 } },
  },
  'later-attempt': {
    mutation: { core: (core) => evolving(core, BUDGETS, ({ again: _again, ...doc }) => doc) },
    bias: { stories: { ...STORIES, retry: 30 } },
  },
  'undo-partial': { mutation: { core: (core) => partly(core) }, bias: { stories: { ...STORIES, undo: 20 } } },
  advanced: {
    mutation: { core: (core) => deaf(core) },
    bias: { stories: { ...STORIES, hold: 30, execute: 20, trigger: 12, person: 20 } },
  },
  'refused-late': {
    mutation: {
      core: (core) =>
        answering(core, 'LegReported', (real, context, input) =>
          real.decide(context, { ...input, body: disproving(input.body) }),
        ),
    },
    bias: {
      profile: { chaos: LATE_WORKERS, chaosEveryMs: 350, leaseMs: 2_000, freezeMaxMs: 8_000, toolTrouble: 0.3 },
      stories: RECOVERING,
    },
  },
  'step-result': {
    mutation: {
      core: (core) =>
        asking(core, RECOVERIES, (context, input) =>
          isMarkOfLinked(input) ? { ...context, state: trusted(context.state) } : context,
        ),
    },
    bias: { profile: { toolTrouble: 0.4 }, stories: { ...STORIES, pair: 40 } },
  },
  'key-lifetime': {
    mutation: { keyKeptMs: 0 },
    bias: {
      profile: { chaos: { ...LATE_WORKERS, zombie: 20 }, chaosEveryMs: 300, toolTrouble: 0.3, sendTrouble: 0.1 },
      stories: { ...RECOVERING, person: 60 },
    },
  },
  facts: { mutation: { core: (core) => hasty(core) }, bias: { stories: RECOVERING } },
  'facts-kept': {
    mutation: {
      core: (core) =>
        answering(core, 'LegReported', (real, context, input) =>
          real.decide({ ...context, state: unseen(context.state) }, input),
        ),
    },
    bias: { profile: { toolTrouble: 0.35 }, stories: { ...RECOVERING, person: 60 } },
  },
  verification: {
    mutation: {
      core: (core) =>
        answering(core, 'LegReported', (real, context, input) =>
          real.decide(context, { ...input, body: trusting(input.body) }),
        ),
    },
    bias: { profile: { toolTrouble: 0.35 }, stories: RECOVERING },
  },
  ...LEG_MUTANTS,
  ...LOOP_MUTANTS,
  ...MEMBER_MUTANTS,
  ...OBSERVER_MUTANTS,
  ...LINEAGE_MUTANTS,
  ...CONSUMER_MUTANTS,
  ...ERASURE_MUTANTS,
};

/** A mutant by name. Errors: Error naming those there are. */
export function mutantOf(name: string): Mutant {
  const mutant = MUTANTS[name];
  if (mutant === undefined) throw new Error(`there is no mutant ${name}; there are ${Object.keys(MUTANTS).join(', ')}`);
  return mutant;
}

// Cores ------------------------------------------------------------------------------------------------------------------

function isTool(input: Input): boolean {
  return input.source !== 'timer' && input.topic === 'recourse.tool-executions';
}

/** A state in which a kind was never written. */
function without(state: StateView, kind: string): StateView {
  return {
    get: (asked, group, key) => {
      const found = state.get(asked, group, key);
      return asked === kind ? undefined : found;
    },
    stored: (asked, group, key) => {
      const found = state.stored(asked, group, key);
      return asked === kind ? undefined : found;
    },
    list: (asked, group) => {
      const found = state.list(asked, group);
      return asked === kind ? [] : found;
    },
    all: (asked, group) => {
      const found = state.all(asked, group);
      return asked === kind ? [] : found;
    },
    lastFirst: (asked, group, below) => {
      const found = state.lastFirst(asked, group, below);
      return asked === kind ? [] : found;
    },
  };
}

/** Views that judge every ref as of the start of its log, whatever has been read since. */
function judgedAtStart({ views }: DecideContext): DecideContext['views'] {
  return {
    ...views,
    view: (name) => {
      const real = views.view(name);
      if (name !== 'assumptions') return real;
      return { get: (key) => real.get(key), position: () => 0, partitionOf: (key) => real.partitionOf(key) };
    },
  };
}

/** What is to be looked at before it is dispatched is dispatched unseen; the worker is told the same terms. */
function hasty(core: ServiceCore): ServiceCore {
  if (core.log !== RECOVERIES) return core;
  return {
    ...core,
    decide: (context, input) => {
      const decision = core.decide(context, input);
      if (!decision.records.some(({ type, body }) => type === 'FactsAsked' && body['purpose'] === 'dispatch'))
        return decision;
      const hurried = core.decide({ ...context, state: unlooked(context.state) }, input);
      return { ...hurried, records: hurried.records.map((record) => withTermsOf(context.state, record)) };
    },
  };
}

/** Steps whose contracts name no way to look at the resource. */
function unlooked(state: StateView): StateView {
  const blinded = (doc: Doc): Doc =>
    'facts_ask' in doc && doc['terms'] !== null
      ? { ...doc, terms: { ...(doc['terms'] as Doc), stale_capability: null } } // a step's terms are a record
      : doc;
  return {
    get: (kind, group, key) => {
      const doc = state.get(kind, group, key);
      return doc === undefined ? undefined : blinded(doc);
    },
    stored: (kind, group, key) => {
      const doc = state.stored(kind, group, key);
      return doc === undefined ? undefined : blinded(doc);
    },
    list: (kind, group) => state.list(kind, group).map(blinded),
    all: (kind, group) => state.all(kind, group).map(blinded),
    lastFirst: (kind, group, below) => [...state.lastFirst(kind, group, below)].map(blinded),
  };
}

/** A dispatch under the terms its step really has. */
function withTermsOf(state: StateView, record: Decided): Decided {
  if (record.type !== 'LegDispatched') return record;
  const members = (record.body['members'] as readonly { readonly step: Doc }[]).map((member) => {
    const { terms } = state.get('step', String(record.body['run_id']), String(member.step['step_id'])) ?? {};
    const { stale_capability } = (terms ?? member.step) as Doc; // terms and asks name it alike
    return { ...member, step: { ...member.step, stale_capability } };
  });
  return { ...record, body: { ...record.body, members } };
}

/** Steps about which nobody saw anything before: whatever is observed then has changed from nothing. */
function unseen(state: StateView): StateView {
  return reading(state, 'step', (doc) => (doc['phase'] === 'observing' ? { ...doc, facts: null } : doc));
}

// Rows of the orchestrator, as far as mutants look at them.
interface StepRow extends Doc {
  readonly step_id: string;
  readonly phase: string;
  readonly action_digest: Buffer | null;
  readonly execution: Doc;
}

function stepsIn(context: DecideContext, input: RecordInput): readonly StepRow[] {
  return context.state.list('step', String(input.body['run_id'])) as readonly StepRow[];
}

function digestIn(context: DecideContext, input: RecordInput): unknown {
  return (
    stepsIn(context, input).find(({ step_id }) => step_id === input.body['step_id'])?.action_digest ??
    input.body['action_digest']
  );
}

/** One approval lets every other step of the run that waits go, too. */
function reused(core: ServiceCore, context: DecideContext, input: RecordInput): Decision {
  const first = core.decide(context, input);
  if (first.answer?.status !== 'accepted') return first;
  const others = stepsIn(context, input).filter(
    ({ step_id, phase }) => phase === 'awaiting_approval' && step_id !== input.body['step_id'],
  );
  const more = others.flatMap(
    ({ step_id, action_digest }) =>
      core.decide(context, { ...input, body: { ...input.body, step_id, action_digest } }).records,
  );
  return { ...first, records: [...first.records, ...more.filter(({ type }) => type !== 'RecoveryClosed')] };
}

/** Steps that nobody started and nobody answers for. */
function anonymous(state: StateView): StateView {
  const hidden = (doc: Doc): Doc =>
    'execution' in doc
      ? {
          ...doc,
          answerable_to: null,
          execution: { ...(doc['execution'] as Doc), initiator: null, agent_id: 'nobody' },
        }
      : doc; // a step's execution is a record
  return {
    get: (kind, group, key) => {
      const doc = state.get(kind, group, key);
      return doc === undefined ? undefined : hidden(doc);
    },
    stored: (kind, group, key) => {
      const doc = state.stored(kind, group, key);
      return doc === undefined ? undefined : hidden(doc);
    },
    list: (kind, group) => state.list(kind, group).map(hidden),
    all: (kind, group) => state.all(kind, group).map(hidden),
    lastFirst: (kind, group, below) => [...state.lastFirst(kind, group, below)].map(hidden),
  };
}

/** Views in which no commit ever fell. */
function allStanding({ views }: DecideContext): DecideContext['views'] {
  const blind = (name: string): ReturnType<DecideContext['views']['view']> => {
    const view = views.view(name);
    return {
      get: (key) => (name === 'fallen' ? undefined : view.get(key)),
      position: (partition) => view.position(partition),
      partitionOf: (key) => view.partitionOf(key),
    };
  };
  return { ...views, view: blind };
}

/** Steps of which none was executed after another. */
function unordered(state: StateView): StateView {
  const levelled = (doc: Doc): Doc =>
    'executed_seq' in doc
      ? { ...doc, executed_seq: 0, execution: { ...(doc['execution'] as Doc), derived_from: [] } }
      : doc; // a step's execution is a record
  return {
    get: (kind, group, key) => {
      const doc = state.get(kind, group, key);
      return doc === undefined ? undefined : levelled(doc);
    },
    stored: (kind, group, key) => {
      const doc = state.stored(kind, group, key);
      return doc === undefined ? undefined : levelled(doc);
    },
    list: (kind, group) => state.list(kind, group).map(levelled),
    all: (kind, group) => state.all(kind, group).map(levelled),
    lastFirst: (kind, group, below) => [...state.lastFirst(kind, group, below)].map(levelled),
  };
}

/** News of the ledger about a commit that was marked before it had happened are not heard. */
function deaf(core: ServiceCore): ServiceCore {
  if (core.log !== RECOVERIES) return core;
  return {
    ...core,
    decide: (context, input) => {
      const decision = core.decide(context, input);
      return decision.records.some(({ type }) => type === 'MutationAdvanced') ? { ...decision, records: [] } : decision;
    },
  };
}

/** A report in which the refusal of one copy counts as proof that nothing was done. */
function disproving(body: Doc): Doc {
  const steps = body['steps'] as readonly Doc[]; // the codec made it from the schema
  return {
    ...body,
    steps: steps.map((step) => (step['outcome'] === 'refused_late' ? { ...step, outcome: 'not_executed' } : step)),
  };
}

function isMarkOfLinked(input: Input): boolean {
  return (
    input.source !== 'timer' &&
    input.type === 'MutationsFell' &&
    (input.body['members'] as readonly { readonly execution: Doc }[]).some(
      ({ execution }) => execution['capability'] === CAPABILITY_OF.linked,
    )
  ); // a list by the schema
}

/** Leads that answered, as if another capability had seen it. */
function trusted(state: StateView): StateView {
  const believed = (doc: Doc): Doc => {
    const isLead = 'execution' in doc && (doc['execution'] as Doc)['effect_key'] === LEAD; // a step's execution is a record
    return isLead && doc['last'] !== null ? { ...doc, phase: 'compensated' } : doc;
  };
  return {
    get: (kind, group, key) => {
      const doc = state.get(kind, group, key);
      return doc === undefined ? undefined : believed(doc);
    },
    stored: (kind, group, key) => {
      const doc = state.stored(kind, group, key);
      return doc === undefined ? undefined : believed(doc);
    },
    list: (kind, group) => state.list(kind, group).map(believed),
    all: (kind, group) => state.all(kind, group).map(believed),
    lastFirst: (kind, group, below) => [...state.lastFirst(kind, group, below)].map(believed),
  };
}

/** An undo that leaves the last of its effects alone. */
function partly(core: ServiceCore): ServiceCore {
  if (core.log !== MUTATIONS) return core;
  return {
    ...core,
    decide: (context, input) => {
      const decision = core.decide(context, input);
      if (input.source === 'timer' || input.type !== 'UndoRun') return decision;
      const last = decision.records.findLast(({ type }) => type === 'MutationsFell');
      return {
        ...decision,
        records: decision.records.flatMap((record) => (record === last ? withoutLast(record) : [record])),
      };
    },
  };
}

/** A record without the last of its members; none where it has no other. */
function withoutLast(record: Decided): readonly Decided[] {
  const members = (record.body['members'] as readonly Doc[]).slice(0, -1); // a list by the schema
  return members.length === 0 ? [] : [{ ...record, body: { ...record.body, members } }];
}

/** A report in which an answer of the acting tool counts as an observation of success. */
function trusting(body: Doc): Doc {
  const steps = body['steps'] as readonly (Doc & { readonly observations: readonly Doc[] })[]; // the codec made it from the schema
  return {
    ...body,
    steps: steps.map((step) => {
      const executed = step.observations.find(({ phase }) => phase === 'execute');
      if (executed === undefined || step['outcome'] !== 'unverified') return step;
      const seen = {
        phase: 'verify',
        capability: OBSERVE,
        observed: plainPayload({ status: 'reversed' }),
        observed_at: executed['observed_at'],
      };
      return { ...step, outcome: 'verified', observations: [...step.observations, seen] };
    }),
  };
}

// Ports ------------------------------------------------------------------------------------------------------------------

/** A step whose tool takes no key is anybody's, however often it is taken; a leg is claimed as it should be. */
function ungranted(kept: ClaimStore): ClaimStore {
  return {
    claim: async (claim) => {
      const answer = await kept.claim(claim);
      return claim.id.startsWith('step_') ? 'granted' : answer;
    },
  };
}

/** Seals, and never makes a key durable. */
function undurable(sealing: Sealing): Sealing {
  return {
    batch: (now) => ({
      ...sealing.batch(now),
      prepare: () => Promise.resolve(),
      settle: () => Promise.resolve(true),
    }),
    open: (doc) => sealing.open(doc),
    openOnUse: (doc) => sealing.openOnUse(doc),
    using: (decide) => sealing.using(decide),
    show: (doc) => sealing.show(doc),
    openBytes: (keyId, body) => sealing.openBytes(keyId, body),
    load: (keyIds) => sealing.load(keyIds),
  };
}

function closing(producer: LogProducer): Pick<LogProducer, 'close'> {
  return { close: () => producer.close() };
}

/** Projects whatever head the database has, and never says that it is another than was projected. */
function unfenced(store: PartitionStore): PartitionStore {
  return {
    ...store,
    load: async (groups) => ({ ...(await store.load(groups)), headSeq: Number.MAX_SAFE_INTEGER }),
    project: async (_from, to, changes) => store.project(await store.head(), to, changes),
  };
}

/** Lands a part of a batch, and does not know. */
async function torn(
  producer: LogProducer,
  topic: string,
  partition: number,
  records: Parameters<LogProducer['send']>[2],
  isTorn: boolean,
): Promise<SendOutcome> {
  if (!isTorn || records.length < 2) return producer.send(topic, partition, records);
  const outcome = await producer.send(topic, partition, records.slice(0, Math.ceil(records.length / 2)));
  return { kind: 'unknown', cause: outcome };
}

/** Takes every answer for a success. */
async function hopeful(sent: Promise<SendOutcome>, expected: number): Promise<SendOutcome> {
  const outcome = await sent;
  return outcome.kind === 'landed' ? outcome : { kind: 'landed', baseOffset: expected };
}
