// What several commands share: their options, and the way an action runs.
import { isTenant } from '@recourse/kernel';
import { InvalidArgumentError, Option } from 'commander';
import { known } from '../config.js';
import type { ExitKind } from '../problem.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';

/** An action: gets the session, its own options and its arguments, and may say how the process ends. */
export type Action<Options> = (
  session: Session,
  options: Options,
  ...args: readonly (string | undefined)[]
) => Promise<ExitKind | undefined> | Promise<void>;

/** Makes a commander action of ours. */
export type Act = <Options extends object>(action: Action<Options>) => (...given: unknown[]) => Promise<void>;

const LIMIT_DEFAULT = 200;

export const LIMIT = (): Option =>
  new Option('--limit <n>', 'at most so many').default(LIMIT_DEFAULT).argParser(positiveInteger);
/** Rows of a report that a service gives at the most: it has no further pages. */
export const REPORT_ROWS_MAX = 500;
export const REPORT_LIMIT = (): Option =>
  new Option('--limit <n>', `at most so many, up to ${String(REPORT_ROWS_MAX)}`)
    .default(LIMIT_DEFAULT)
    .argParser(rowsOfReport);
export const IDEMPOTENCY_KEY = (): Option =>
  new Option('--idempotency-key <key>', 'repeat the same command safely: same key, same answer');

/** Errors: InvalidArgumentError, which commander reports. */
export function positiveInteger(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('It must be a whole number from 1.');
}

/** Errors: InvalidArgumentError, which commander reports. */
function rowsOfReport(text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0 && value <= REPORT_ROWS_MAX) return value;
  throw new InvalidArgumentError(
    `It must be a whole number from 1 to ${String(REPORT_ROWS_MAX)}: narrow what is asked for.`,
  );
}

/** A name; an empty one, as of an unset variable of a shell, would narrow nothing. Errors: InvalidArgumentError, which commander reports. */
export function notEmpty(text: string): string {
  if (text.trim() !== '') return text;
  throw new InvalidArgumentError('It is empty: where it comes from a variable of the shell, that variable is not set.');
}

/** Errors: InvalidArgumentError, which commander reports. */
export function partitionNumber(text: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new InvalidArgumentError('It must be a whole number from 0.');
}

const INSTANT =
  /^(?<day>\d{4}-\d{2}-\d{2})(?:[T ](?<time>(?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,3})?)?)(?<zone>Z|[+-](?:0\d|1[0-4]):[0-5]\d))?$/;

/**
 * Epoch milliseconds of a day, which begins in UTC, or of a time that names its zone; null for anything else: a time without one
 * means another instant on each machine, and a day that is not there would be taken for the next month's. Pure.
 */
export function instantIn(text: string): number | null {
  const { day = '', time = '00:00', zone = 'Z' } = INSTANT.exec(text)?.groups ?? {};
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, day.length) !== day) return null;
  return Date.parse(`${day}T${time}${zone}`);
}

/** An instant as epoch milliseconds. Errors: InvalidArgumentError, which commander reports. */
export function epochMs(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : instantIn(text);
  if (Number.isSafeInteger(value)) return Number(value);
  throw new InvalidArgumentError(
    'It must be an instant such as 2026-11-22T01:34:17Z or 2026-11-22T07:04:17+05:30, a day such as 2026-11-22, which begins in UTC, or epoch milliseconds.',
  );
}

/** Where the keys of payloads are, for who opens them. Errors: CliProblem(ADDRESS_UNKNOWN). */
export function keysFor(
  { settings }: Pick<Session, 'settings'>,
  { open }: { readonly open?: boolean },
): { readonly key_store_url: string | null } {
  const asked = open === true;
  return {
    key_store_url: asked
      ? known(settings.keyStoreUrl, 'where the keys of payloads are', 'RECOURSE_KEY_STORE_URL')
      : null,
  };
}

/** A tenant, or `*` for all. Errors: InvalidArgumentError, which commander reports. */
export function tenantName(text: string): string {
  if (text === '*' || isTenant(text)) return text;
  throw new InvalidArgumentError('It must name a tenant (not empty, no blanks around it), or be * for all.');
}

/** A reason that goes on record: the one given, else what the person at the terminal says. Errors: CliProblem(REASON_NEEDED). */
export async function reasonIn(
  { terminal }: Pick<Session, 'terminal'>,
  { reason: given }: { readonly reason?: string },
  what: string,
  remedy = 'Pass --reason <text>: it is recorded under your name.',
): Promise<string> {
  const reason = given ?? (terminal.isInteractive ? await terminal.ask('why, in your words: ') : '');
  if (reason.trim() !== '') return reason;
  throw new CliProblem('REASON_NEEDED', `${what} needs a reason`, 'usage', { remedy });
}
