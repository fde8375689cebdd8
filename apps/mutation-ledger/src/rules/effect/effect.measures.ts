// What the ledger's records say of effects, as series: by status and tool (C65), and those that nothing undoes (C70).
//
// Boundary: pure; reads the rows of mutations that a record changed, so no record that moves an effect can be left out.
import type { Mutation } from '../mutation/mutation.messages.js';
import { effectStatusOf } from './effect.decisions.js';
import type { EffectStatus } from './effect.decisions.js';

/** An effect that came into a status, or turned out to be irreversible. */
export interface EffectMeasure {
  /** Capability under contract; `uncontracted` for every other, whose names are anybody's. */
  readonly tool: string;
  /** Null for one that stays in its status: a person had it, and still has it once it is known to have happened. */
  readonly status: EffectStatus | null;
  /** True once per effect: when it was recorded as something that happened and that nothing undoes. */
  readonly isNewlyIrreversible: boolean;
}

/** A row before and after a record. */
interface Changed {
  readonly kind: string;
  readonly before: object | undefined;
  readonly after: object | undefined;
}

/** Effects that a record moved; none for most. */
export function effectMeasures(rows: readonly Changed[]): readonly EffectMeasure[] {
  return rows.flatMap(({ kind, before, after }) =>
    // Rows of this kind are mutations.
    kind === 'mutation' && after !== undefined ? cameInto(before as Mutation | undefined, after as Mutation) : [],
  );
}

function cameInto(before: Mutation | undefined, after: Mutation): readonly EffectMeasure[] {
  const status = effectStatusOf(after);
  const isNewlyIrreversible = isIrreversible(after) && (before === undefined || !isIrreversible(before));
  const isMoved = before === undefined || effectStatusOf(before) !== status;
  if (!isMoved && !isNewlyIrreversible) return [];
  return [{ tool: toolOf(after), status: isMoved ? status : null, isNewlyIrreversible }];
}

function isIrreversible({ execution_state, ref }: Mutation): boolean {
  return execution_state === 'succeeded' && ref?.reversal_class === 'irreversible';
}

function toolOf({ terms, capability }: Mutation): string {
  return terms === null ? 'uncontracted' : capability;
}
