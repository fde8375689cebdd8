// How a mutant gets at a core: what it hears, what it decides on, what it decides, and what follows from that.
import type {
  DecideContext,
  Decided,
  Decision,
  Derived,
  Doc,
  Input,
  RecordInput,
  ServiceCore,
  StateView,
} from '@recourse/event-log';

export const MUTATIONS = 'recourse.mutations';
export const BUDGETS = 'recourse.budgets';
export const RECOVERIES = 'recourse.recoveries';

/** Changes what evolve writes, in one log. */
export function evolving(core: ServiceCore, log: string, change: (doc: Doc) => Doc): ServiceCore {
  if (core.log !== log) return core;
  return {
    ...core,
    evolve: (state, record) =>
      core
        .evolve(state, record)
        .map((one) => (one.op === 'put' ? { ...one, row: { ...one.row, doc: change(one.row.doc) } } : one)),
  };
}

/** Changes what is decided, in one log. */
export function deciding(core: ServiceCore, log: string, change: (record: Decided) => Doc): ServiceCore {
  if (core.log !== log) return core;
  return {
    ...core,
    decide: (context, input) => {
      const decision = core.decide(context, input);
      return { ...decision, records: decision.records.map((record) => ({ ...record, body: change(record) })) };
    },
  };
}

/** Changes what a decision is made on, in one log. */
export function asking(
  core: ServiceCore,
  log: string,
  change: (context: DecideContext, input: Input) => DecideContext,
): ServiceCore {
  return core.log === log ? { ...core, decide: (context, input) => core.decide(change(context, input), input) } : core;
}

/** Changes what one log hears. */
export function hearing(core: ServiceCore, log: string, change: (body: Doc, type: string) => Doc): ServiceCore {
  return core.log === log
    ? {
        ...core,
        decide: (context, input) =>
          core.decide(context, input.source === 'timer' ? input : { ...input, body: change(input.body, input.type) }),
      }
    : core;
}

/** Changes what downstream hears of the mutations log. */
export function deriving(core: ServiceCore, change: (derived: readonly Derived[]) => readonly Derived[]): ServiceCore {
  const { derived } = core;
  return core.log !== MUTATIONS || derived === undefined
    ? core
    : { ...core, derived: { ...derived, derive: (record) => change(derived.derive(record)) } };
}

/** Changes rows of a kind as they are read. */
export function reading(state: StateView, kind: string, change: (doc: Doc) => Doc): StateView {
  return {
    get: (asked, group, key) => {
      const found = state.get(asked, group, key);
      return asked === kind && found !== undefined ? change(found) : found;
    },
    stored: (asked, group, key) => {
      const found = state.stored(asked, group, key);
      return asked === kind && found !== undefined ? change(found) : found;
    },
    list: (asked, group) => {
      const found = state.list(asked, group);
      return asked === kind ? found.map(change) : found;
    },
    all: (asked, group) => {
      const found = state.all(asked, group);
      return asked === kind ? found.map(change) : found;
    },
    lastFirst: (asked, group, below) => {
      const found = state.lastFirst(asked, group, below);
      return asked === kind ? [...found].map(change) : found;
    },
  };
}

/** Decides one type of input of the orchestrator in another way. */
export function answering(
  core: ServiceCore,
  type: string,
  decide: (core: ServiceCore, context: DecideContext, input: RecordInput) => Decision,
): ServiceCore {
  if (core.log !== RECOVERIES) return core;
  return {
    ...core,
    decide: (context, input) =>
      input.source !== 'timer' && input.type === type ? decide(core, context, input) : core.decide(context, input),
  };
}
