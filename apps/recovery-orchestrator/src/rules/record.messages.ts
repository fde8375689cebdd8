// Records of recourse.recoveries, by type.
import type { BodyOf, RecordTypeOf } from '@recourse/messages';

export const RECOVERIES_LOG = 'recourse.recoveries';

export type RecordType = RecordTypeOf<typeof RECOVERIES_LOG>;

type Bodies = { readonly [Type in RecordType]: BodyOf<typeof RECOVERIES_LOG, Type> };

/** A command of people or of a guard, by its type. */
export type Command<Type extends RecordTypeOf<'recourse.recovery-commands'>> = BodyOf<
  'recourse.recovery-commands',
  Type
>;

/** Fields of a record of a type, without those of the chain. */
export type Body<Type extends RecordType> = Bodies[Type];

/** A record of one of some types; of any, unless told. */
export type RecoveryRecord<Type extends RecordType = RecordType> = {
  readonly [One in Type]: { readonly type: One; readonly body: Bodies[One] };
}[Type];

/** A function for each of some record types; `Given` is what it gets beside the body. */
export type ByType<Type extends RecordType, Given extends readonly unknown[], Result> = {
  readonly [One in Type]: (body: Bodies[One], ...given: Given) => Result;
};

/** Calls the function that a table has for the type of a record. */
export function callByType<Type extends RecordType, Given extends readonly unknown[], Result>(
  table: ByType<Type, Given, Result>,
  { type, body }: RecoveryRecord<Type>,
  ...given: Given
): Result {
  return table[type](body, ...given);
}

/** Makes a record of a type, with the body that type has. */
export function record<Type extends RecordType>(
  type: Type,
  body: Bodies[Type],
): { readonly type: Type; readonly body: Bodies[Type] } {
  return { type, body };
}
