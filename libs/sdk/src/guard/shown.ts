// What an agent gets to see of its tool's answer: all of it but what a reversal is made of (A37).
//
// Boundary: pure.
//
// Invariants
//   S1. A member that a reversal argument of the contract is read from is left out, unless the contract calls it public; in a
//       list, null stands in its place.
//   S2. The provider's handle is left out wherever it stands alone, and cut out of a text, or the name of a member, that holds it
//       between other signs than letters and digits; one that is a public member as well is no secret. Encoded it is not known.
//       A number is no handle where it is the part of a decimal, nor one short enough where it is that of a date or a time.
//   S3. Nothing else changes.
import { pointerOf, readPointer, reversalCallsOf } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';

/** A tool's answer as JSON, less what is left out: any member may lack. */
export type Shown<Value> = Value extends { toJSON(): infer Plain }
  ? Shown<Plain>
  : Value extends bigint
    ? string
    : Value extends readonly (infer Element)[]
      ? readonly (Shown<Element> | null)[]
      : Value extends object
        ? { readonly [Name in keyof Value]?: Shown<Value[Name]> }
        : Value;

/** Takes out of a tool's answer what a reversal is made of. `handle` is the provider's own reference. */
export function shownOf(
  value: Json,
  contract: Pick<Contract, 'reversal_args' | 'reversal_then'>,
  handle: string | null,
): Json {
  const sources = reversalCallsOf(contract)
    .flatMap(({ args }) => Object.values(args))
    .filter(({ from }) => from === 'result');
  const open = sources.flatMap((source) => (isPublic(source) ? [source.path] : []));
  const isKnown = open.some((path) => isHandle(readPointer(value, path), handle));
  const hidden = sources.flatMap((source) =>
    'path' in source && source.path !== undefined && !open.includes(source.path) ? [source.path] : [],
  );
  return hidden.includes('') ? null : without(value, '', { hidden: new Set(hidden), handle: isKnown ? null : handle });
}

type Source = NonNullable<Contract['reversal_args']>[string];

function isPublic(source: Source): source is Extract<Source, { from: 'result' }> {
  return source.from === 'result' && source.is_public === true;
}

interface Secrets {
  /** JSON pointers. */
  readonly hidden: ReadonlySet<string>;
  readonly handle: string | null;
}

function without(value: Json, at: string, secrets: Secrets): Json {
  if (typeof value === 'string') return cut(value, secrets.handle);
  if (typeof value !== 'object' || value === null) return value;
  const kept = ([name, each]: readonly [string | number, Json]): Json | undefined => {
    const path = `${at}${pointerOf([name])}`;
    return secrets.hidden.has(path) || isHandle(each, secrets.handle) ? undefined : without(each, path, secrets);
  };
  // A list of JSON; `isArray` alone does not tell a readonly one apart.
  if (Array.isArray(value)) return (value as readonly Json[]).map((each, index) => kept([index, each]) ?? null);
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      const left = kept([name, each]);
      return left === undefined ? [] : [[cut(name, secrets.handle), left]];
    }),
  );
}

function isHandle(value: Json | undefined, handle: string | null): boolean {
  return handle !== null && (typeof value === 'string' || typeof value === 'number') && String(value) === handle;
}

const CUT = '…';

/** A short handle is no part of a longer number or word; what is put beside it by a sign is another's. */
function cut(text: string, handle: string | null): string {
  if (handle === null || handle === '') return text;
  const literal = handle.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const joined = joining(handle);
  const [before, after] = joined === null ? ['', ''] : [String.raw`|\d${joined}`, String.raw`|${joined}\d`];
  const alone = String.raw`(?<![\p{L}\p{N}]${before})${literal}(?![\p{L}\p{N}]${after})`;
  return text.replace(new RegExp(alone, 'gu'), CUT);
}

/** Longest part of a date: its year. */
const DATE_PART = 4;

/** Signs that make one number, date or time of a handle and the digits beyond; null for one that is no number. */
function joining(handle: string): string | null {
  if (!/^\d+$/.test(handle)) return null;
  return handle.length > DATE_PART ? String.raw`\.` : '[-.:+]';
}
