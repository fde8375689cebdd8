// Mutants of decisions about many: each drops a member, or tells of one what comes later before what comes first.
import type { Decided, Derived, Doc, ServiceCore } from '@recourse/event-log';
import type { Bias } from './bias.js';
import { deriving, hearing, MUTATIONS, RECOVERIES } from './core-mutations.js';
import { SPREADING } from './lineage-mutants.js';
import type { Mutation } from './mutation.js';

/** Many runs of several effects that are taken back together. */
const TOGETHER: Bias = { stories: { saga: 40, person: 40 } };

/** The rules, by name. */
export const MEMBER_MUTANTS: Readonly<Record<string, { readonly mutation: Mutation; readonly bias: Bias }>> = {
  'member-fallen': { mutation: { core: (core) => dropping(core, MUTATIONS, 'MutationsFell') }, bias: TOGETHER },
  'member-rolled-back': {
    mutation: { core: (core) => dropping(core, MUTATIONS, 'CheckpointRolledBack', 'others') },
    bias: SPREADING,
  },
  'member-planned': {
    mutation: {
      core: (core) =>
        hearing(core, RECOVERIES, (body, type) => (type === 'MutationsFell' ? (withoutLast(body) ?? body) : body)),
    },
    bias: TOGETHER,
  },
  'member-settled': { mutation: { core: (core) => dropping(core, RECOVERIES, 'LegSettled') }, bias: TOGETHER },
  'member-moved': { mutation: { core: (core) => dropping(core, MUTATIONS, 'RecoverabilityChanged') }, bias: TOGETHER },
  'member-executed': {
    mutation: { core: (core) => dropping(core, MUTATIONS, 'CompensationsExecuted') },
    bias: TOGETHER,
  },
  'settled-first': { mutation: { core: (core) => deriving(core, settlementsFirst) }, bias: TOGETHER },
};

/** Records of a type name all of their members but one. */
function dropping(core: ServiceCore, log: string, type: string, list: 'members' | 'others' = 'members'): ServiceCore {
  const dropped = (record: Decided): Decided => {
    const body = record.type === type ? withoutLast(record.body, list) : null;
    return body === null ? record : { ...record, body };
  };
  return core.log !== log
    ? core
    : {
        ...core,
        decide: (context, input) => {
          const decision = core.decide(context, input);
          return { ...decision, records: decision.records.map(dropped) };
        },
      };
}

/** A record without its last member; null where it has no other. */
function withoutLast(body: Doc, list: 'members' | 'others' = 'members'): Doc | null {
  const members = body[list] as readonly Doc[]; // a list by the schema
  const least = list === 'others' ? 1 : 2;
  return members.length < least ? null : { ...body, [list]: members.slice(0, -1) };
}

/** What became of commits is told before what happened to them. */
function settlementsFirst(derived: readonly Derived[]): readonly Derived[] {
  const [settled, others] = [true, false].map((isSettled) =>
    derived.filter(({ type }) => (type === 'RollbackSettled') === isSettled),
  );
  return [...(settled ?? []), ...(others ?? [])];
}
