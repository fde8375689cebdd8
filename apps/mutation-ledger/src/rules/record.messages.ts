// Records of recourse.mutations, by type.
import { recordsOf, shortName } from '@recourse/messages';
import type { BodyOf, ChainField, Evidence, RecordTypeOf } from '@recourse/messages';

export const MUTATIONS_LOG = 'recourse.mutations';

export type RecordType = RecordTypeOf<typeof MUTATIONS_LOG>;

type Bodies = { readonly [Type in RecordType]: BodyOf<typeof MUTATIONS_LOG, Type> };

/** A record of one of some types; of any, unless told. */
export type MutationRecord<Type extends RecordType = RecordType> = {
  readonly [One in Type]: { readonly type: One; readonly body: Bodies[One] };
}[Type];

/** Is it of this log? The service has another beside it, and both are measured. */
export function isMutationRecord({ type }: { readonly type: string }): boolean {
  return TYPES.has(type);
}

const TYPES: ReadonlySet<string> = new Set(recordsOf(MUTATIONS_LOG).map(shortName));

/** A record's fields as a decision states them; the loop adds its place in the chain. */
export type Body<T> = Omit<T, ChainField>;

/** Functions for some record types; `Given` is what each gets beside the body. */
export type ByType<Given extends readonly unknown[], Result, Type extends RecordType = RecordType> = {
  readonly [One in Type]?: (body: Bodies[One], ...given: Given) => Result;
};

/** Calls the function that a table has for the type of a record; undefined where it has none. */
export function callByType<Type extends RecordType, Given extends readonly unknown[], Result>(
  table: ByType<Given, Result, Type>,
  { type, body }: MutationRecord<Type>,
  ...given: Given
): Result | undefined {
  return table[type]?.(body, ...given);
}

/** Makes a record of a type, with the body that type has. */
export function record<Type extends RecordType>(
  type: Type,
  body: Bodies[Type],
): { readonly type: Type; readonly body: Bodies[Type] } {
  return { type, body };
}

/** A commit that should not stand, as evidence says. No record: the decision that found it says what becomes of it (core/falls.part.ts). */
export interface Contradiction {
  readonly type: 'Contradiction';
  readonly body: {
    readonly mutation_id: string;
    readonly tenant: string;
    readonly run_id: string;
    readonly evidence: Evidence;
  };
}

/** What a decider found: records, and commits that should not stand. */
export type Finding = MutationRecord | Contradiction;
