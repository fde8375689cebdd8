// Instants that callers give, epoch milliseconds: what is in seconds instead would be 1970, and have no effect that anybody sees.
import { Failure } from '@recourse/kernel';

/** Members that hold one, and what callers call them. */
const INSTANTS = {
  stated_at: 'statedAt',
  committed_at: 'committedAt',
  planned_at: 'plannedAt',
  ended_at: 'endedAt',
  emitted_at: 'emitted_at',
} as const;

/** What a record says of when it was. */
export type Instants = { readonly [Name in keyof typeof INSTANTS]?: number };

/** Seconds of the years 2001 to 5138; as milliseconds, days of 1970 to 1973. */
const [SECONDS_MIN, SECONDS_MAX] = [1e9, 1e11];
/** Last instant that a date names; no reader takes a later one. */
const INSTANT_MAX = 8.64e15;

/** Errors: Failure(INSTANT_INVALID) for what is no whole number, names no date, or is seconds. */
export function refuseSeconds(body: Instants): void {
  for (const [member, name] of Object.entries(INSTANTS)) {
    const instant = body[member as keyof typeof INSTANTS];
    if (!Object.hasOwn(body, member)) continue;
    const why = problemOf(instant);
    if (why === null) continue;
    throw new Failure(
      'INSTANT_INVALID',
      `${name} is ${String(instant)}, ${why}: give milliseconds, as Date.now() does`,
    );
  }
}

function problemOf(instant: unknown): string | null {
  if (typeof instant !== 'number' || !Number.isSafeInteger(instant)) return 'which is no whole number';
  if (instant < 0 || instant > INSTANT_MAX) return 'which names no date';
  return instant < SECONDS_MIN || instant >= SECONDS_MAX ? null : 'which is in seconds';
}
