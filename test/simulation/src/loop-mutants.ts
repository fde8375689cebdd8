// Mutants of the loop: what it knows of time, and what it holds of rows that are accepted and not written yet.
import type { Change, PartitionStore, ProjectedHead } from '@recourse/event-log';
import type { Bias } from './bias.js';
import type { Mutation } from './mutation.js';

/** The database's clock is set again and again, and nobody is frozen: who decides knows the time. */
const SET_CLOCKS: Bias = {
  profile: {
    chaos: { crash: 2, zombie: 0, freeze: 0, snapshot: 0, restore: 0, wipe: 0, clock: 20 },
    chaosEveryMs: 1_500,
  },
};
/** Appends whose outcome nobody knows: memory is dropped, and read anew. */
const RESETS: Bias = { profile: { sendTrouble: 0.1 } };

/** The rules, by name. */
export const LOOP_MUTANTS: Readonly<Record<string, { readonly mutation: Mutation; readonly bias: Bias }>> = {
  'clock-stale': { mutation: { loop: { timeAgeMs: Infinity, headCheckMs: Infinity } }, bias: SET_CLOCKS },
  'overlay-lost': { mutation: { store: writingBehind }, bias: RESETS },
};

/** What is projected is written with what comes next; what is not written yet when memory is dropped is lost with it. */
function writingBehind(store: PartitionStore): PartitionStore {
  let held: { readonly to: ProjectedHead; readonly changes: readonly Change[] } | null = null;
  const write = async (): Promise<void> => {
    if (held === null) return;
    const { to, changes } = held;
    held = null;
    await store.project(to, to, changes);
  };
  return {
    ...store,
    head: () => {
      held = null;
      return store.head();
    },
    load: async (groups) => {
      await write();
      return store.load(groups);
    },
    project: async (from, to, changes) => {
      const before = held?.changes ?? [];
      const result = await store.project(from, to, before);
      if (result === 'projected') held = { to, changes };
      return result;
    },
  };
}
