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

/** Errors: Failure(INSTANT_INVALID) for what is no whole number, or seconds. */
export function refuseSeconds(body: Instants): void {
  for (const [member, name] of Object.entries(INSTANTS)) {
    const instant = body[member as keyof typeof INSTANTS];
    if (instant === undefined) continue;
    const isWhole = Number.isSafeInteger(instant);
    if (isWhole && (instant < SECONDS_MIN || instant >= SECONDS_MAX)) continue;
    const why = isWhole ? 'which is in seconds' : 'which is no whole number';
    throw new Failure(
      'INSTANT_INVALID',
      `${name} is ${String(instant)}, ${why}: give milliseconds, as Date.now() does`,
    );
  }
}
