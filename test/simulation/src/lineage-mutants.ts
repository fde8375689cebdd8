// Mutants of semantic rollback: each switches off one rule of how falls spread over commits.
import type { Change, Decided, DecideContext, Derived, Doc, Input, ServiceCore } from '@recourse/event-log';
import { canonicalJson } from '@recourse/kernel';
import type { Bias } from './bias.js';
import { asking, deciding, deriving, hearing, MUTATIONS } from './core-mutations.js';
import type { Mutation } from './mutation.js';

/** Many commits that are made from each other, and many triggers. */
export const SPREADING: Bias = { stories: { commit: 60, trigger_commit: 12, person: 14 } };
const BOUNDED: Bias = { profile: { boundMs: 2_500 }, ...SPREADING };

/** The rules, by name. */
export const LINEAGE_MUTANTS: Readonly<Record<string, { readonly mutation: Mutation; readonly bias: Bias }>> = {
  'lineage-snapshot': {
    mutation: {
      core: (core) =>
        asking(core, MUTATIONS, (context, input) =>
          isToldCheckpoint(input)
            ? { ...context, views: withView(context, 'fallen', () => ({ get: () => undefined })) }
            : context,
        ),
    },
    bias: SPREADING,
  },
  'lineage-stale': {
    mutation: {
      core: (core) =>
        asking(core, MUTATIONS, (context, input) =>
          isToldCheckpoint(input)
            ? { ...context, views: withView(context, 'fallen', () => ({ position: () => 0 })) }
            : context,
        ),
    },
    bias: SPREADING,
  },
  'lineage-breaker': {
    mutation: {
      core: (core) => weighing(core),
    },
    bias: { ...SPREADING, profile: { isCareful: true } },
  },
  reattached: { mutation: { core: (core) => unbound(core) }, bias: SPREADING },
  gate: {
    mutation: {
      core: (core) =>
        asking(core, MUTATIONS, (context) => ({
          ...context,
          views: withView(context, 'entries', (view) => ({ get: (key) => admittingAll(view.get(key)) })),
        })),
    },
    bias: SPREADING,
  },
  bound: {
    mutation: {
      core: (core) =>
        hearing(core, MUTATIONS, (body, type) =>
          type === 'RollbackAnnounced' || type === 'BoundReached' ? withoutBound(body) : body,
        ),
    },
    bias: BOUNDED,
  },
  'bound-stops': {
    mutation: { core: (core) => deriving(core, (derived) => derived.filter(({ type }) => type !== 'BoundReached')) },
    bias: BOUNDED,
  },
  resume: { mutation: { core: (core) => deciding(core, MUTATIONS, leadingBackToParent) }, bias: SPREADING },
  announced: { mutation: { core: (core) => deriving(core, (derived) => derived.toReversed()) }, bias: SPREADING },
  'announced-in-part': {
    mutation: { core: (core) => deriving(core, (derived) => derived.map(withoutLast)) },
    bias: SPREADING,
  },
};

function isToldCheckpoint(input: Input): boolean {
  return input.source !== 'timer' && input.type === 'CheckpointTaken';
}

/** An announcement that forgets the last of several. */
function withoutLast(derived: Derived): Derived {
  const members = derived.body['members'] as readonly Doc[] | undefined; // a list by the schema, where there is one
  if (derived.type !== 'RollbackAnnounced' || members === undefined || members.length < 2) return derived;
  return { ...derived, body: { ...derived.body, members: members.slice(0, -1) } };
}

type View = ReturnType<DecideContext['views']['view']>;

/** Views of which one answers otherwise. */
function withView(
  { views }: DecideContext,
  changed: string,
  change: (view: View) => Partial<View>,
): DecideContext['views'] {
  return {
    ...views,
    view: (name) => {
      const real = views.view(name);
      const plain: View = {
        get: (key) => real.get(key),
        position: (partition) => real.position(partition),
        partitionOf: (key) => real.partitionOf(key),
      };
      return name === changed ? { ...plain, ...change(plain) } : plain;
    },
  };
}

/** What falls with its root is weighed like the word of a stranger. */
function weighing(core: ServiceCore): ServiceCore {
  return core.log !== MUTATIONS
    ? core
    : {
        ...core,
        decide: (context, input) => {
          const decision = core.decide(context, input);
          return { ...decision, records: decision.records.flatMap((one) => heldAsStranger(one, context.now)) };
        },
      };
}

function heldAsStranger(decided: Decided, now: number): readonly Decided[] {
  const { type, body } = decided;
  const evidence = body['evidence'] as Doc | undefined; // a record by the schema
  if (type !== 'MutationsFell' || evidence?.['kind'] !== 'lineage') return [decided];
  const { tenant, run_id } = body;
  return (body['members'] as readonly Doc[]).map(({ rollback_id, mutation_id, root }) => ({
    type: 'TriggerHeld',
    body: {
      ...{ rollback_id, tenant, run_id, mutation_id, evidence: { ...evidence, root } },
      command_id: null,
      reason: 'SOURCE_UNTRUSTED',
      detail: 'a stranger',
      cause: 'src_stranger',
      owner: 'role:approver',
      deadline_at: now + 60_000,
    },
  })); // a list by the schema
}

/** A commit that is hung on another parent is bound to nothing. */
function unbound(core: ServiceCore): ServiceCore {
  const isBinding = (change: Change): boolean => change.op === 'put' && change.row.kind === 'binding';
  return core.log !== MUTATIONS
    ? core
    : {
        ...core,
        evolve: (state, record) =>
          core.evolve(state, record).filter((change) => record.type !== 'Reattached' || !isBinding(change)),
      };
}

/** A bundle that admits whatever there is. */
function admittingAll(entry: Doc | undefined): Doc | undefined {
  if (typeof entry?.['body'] !== 'string' || !entry['body'].includes('gate.alone')) return entry;
  return {
    ...entry,
    body: canonicalJson({
      owner: 'risk',
      doc: 'Everything.',
      admission: [{ name: 'all', when: 'true', reason: 'None.' }],
      recovery: [],
    }),
  };
}

/** A run goes on from the commit before, whether that stands or not. */
function leadingBackToParent({ type, body }: Decided): Doc {
  if (type !== 'CheckpointRolledBack') return body;
  const parents = body['derived_from'] as readonly Doc[]; // a list by the schema
  const before = parents.find(
    ({ run_id, commit_id }) => run_id === body['run_id'] && String(commit_id).startsWith('cp_'),
  );
  return {
    ...body,
    resume: before === undefined ? body['resume'] : { run_id: before['run_id'], commit_id: before['commit_id'] },
  };
}

function withoutBound(body: Doc): Doc {
  const unbounded = (named: Doc): Doc => {
    const root = named['root'] as Doc | null; // a record or null
    return root === null ? named : { ...named, root: { ...root, bound_at: null } };
  };
  const { caused_by, members } = body as { readonly caused_by: Doc; readonly members?: readonly Doc[] }; // records by the schema
  const bare = { ...body, caused_by: unbounded(caused_by) };
  return members === undefined ? bare : { ...bare, members: members.map(unbounded) };
}
