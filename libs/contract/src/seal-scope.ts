// Whose data a record of a mutation or a recovery holds: its subject, or where none is known the run.
//
// Source: docs/design/topics.md (a key per subject and retention window).
import { deriveId } from '@recourse/kernel';

interface Scope {
  readonly tenant: string;
  readonly subject: string;
}

/**
 * Scope of a record's payloads.
 *
 * Shape:  the subject of the execution, of the mutation's pointer, of what a worker is asked, or the record's own; else what `known` says of the run
 *         and the record; else `run/<run id>`.
 * Errors: those of `known`; what nobody says is empty.
 */
export function subjectOfRecord(
  body: Readonly<Record<string, unknown>>,
  known: (runId: string) => string | null,
): Scope {
  const execution = membersOf(body['execution']);
  const named = [execution, membersOf(body['ref']), membersOf(body['step']), body].map((one) =>
    textOf(one['subject_ref']),
  );
  const subject = named.find((one) => one !== null);
  const run = textOf(body['run_id']) ?? textOf(execution['run_id']) ?? '';
  return {
    tenant: textOf(body['tenant']) ?? textOf(execution['tenant']) ?? '',
    subject: subject ?? known(run) ?? `run/${run}`,
  };
}

/** Names a subject where it may not stand itself: whoever knows the subject finds it again, and nobody reads it from the id. */
export function subjectId(tenant: string, subject: string): string {
  return deriveId('sub', tenant, subject);
}

/** Subject of an assumption: its ref up to what is assumed, `order/4711` of `order/4711#not_shipped`. */
export function subjectOfAssumption(ref: string): string {
  const end = ref.indexOf('#');
  return end <= 0 ? ref : ref.slice(0, end);
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  // Any object can be read by name.
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
