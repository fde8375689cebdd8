// What the ledger adds to the trace of a rollback (C50): that a trigger was admitted, that the commit was marked, and that it took
// note of the end.
//
// Boundary: pure. The trace is about the rollback's id, and hangs on the span `trigger`.
import type { AcceptedRecord } from '@recourse/event-log';
import { fallenIn, movedIn, recordIn, rolledBackIn } from '@recourse/messages';
import type { Fallen, Moved } from '@recourse/messages';
import { MUTATIONS_LOG } from '../rules/record.messages.js';

/** A span that has ended; times are epoch milliseconds. */
export interface LedgerSpan {
  /** Id of the rollback. */
  readonly about: string;
  readonly name: 'trigger' | 'mark' | 'settlement';
  readonly which: string;
  readonly parent: { readonly name: 'trigger'; readonly which: '' } | null;
  readonly startAt: number;
  readonly endAt: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  readonly problem: string | null;
}

const TRIGGER = { name: 'trigger', which: '' } as const;
/** States in which the ledger has learnt how a recovery ended. */
const ENDS: readonly string[] = ['compensated', 'manual_resolution_required'];

/** Spans that an accepted record ends; each is a moment. Pure. */
export function ledgerSpans(accepted: AcceptedRecord): readonly LedgerSpan[] {
  const told = recordIn(MUTATIONS_LOG, accepted);
  switch (told.type) {
    case 'TriggerUnmatched':
      return [triggerSpan(accepted, told.body)];
    case 'MutationsFell':
      return fallenIn(told.body).flatMap((one) => [...admittedSpans(accepted, one), markSpan(accepted, one)]);
    case 'CheckpointRolledBack':
      return rolledBackIn(told.body).flatMap(({ commit_id: mutation_id, ...one }) =>
        admittedSpans(accepted, { ...one, mutation_id }),
      );
    case 'RecoverabilityChanged':
      return movedIn(told.body).flatMap((moved) => settlementSpans(accepted, moved));
    default:
      return [];
  }
}

type Triggered = Pick<Fallen, 'rollback_id' | 'tenant' | 'run_id' | 'mutation_id' | 'evidence' | 'admission'>;

/** A trigger is told where it was admitted, not where what it waited for is marked. */
function admittedSpans(accepted: AcceptedRecord, body: Triggered): readonly LedgerSpan[] {
  return body.admission.was_remembered ? [] : [triggerSpan(accepted, body)];
}

function triggerSpan(
  accepted: AcceptedRecord,
  { rollback_id, tenant, run_id, mutation_id, evidence }: Triggered,
): LedgerSpan {
  return {
    about: rollback_id,
    ...TRIGGER,
    ...momentOf(accepted),
    parent: null,
    problem: null,
    attributes: {
      ...placeOf(accepted),
      tenant,
      run_id,
      mutation_id,
      'evidence.kind': evidence.kind,
      'evidence.event_id': evidence.event_id,
      'evidence.stated_at': evidence.stated_at,
    },
  };
}

function markSpan(
  accepted: AcceptedRecord,
  { rollback_id, tenant, run_id, mutation_id, execution, recoverability }: Fallen,
): LedgerSpan {
  const attributes = { tenant, run_id, mutation_id, capability: execution.capability, recoverability };
  return {
    about: rollback_id,
    name: 'mark',
    which: '',
    ...momentOf(accepted),
    parent: TRIGGER,
    attributes: { ...placeOf(accepted), ...attributes },
    problem: null,
  };
}

function settlementSpans(
  accepted: AcceptedRecord,
  { rollback_id, tenant, run_id, mutation_id, capability, to_state, reason }: Moved,
): readonly LedgerSpan[] {
  if (rollback_id === null || !ENDS.includes(to_state)) return [];
  const attributes = { tenant, run_id, mutation_id, capability, recoverability: to_state };
  return [
    {
      about: rollback_id,
      name: 'settlement',
      which: String(accepted.seq),
      ...momentOf(accepted),
      parent: TRIGGER,
      attributes: { ...placeOf(accepted), ...attributes },
      problem: to_state === 'compensated' ? null : (reason ?? to_state),
    },
  ];
}

function momentOf({ decidedAt }: AcceptedRecord): Pick<LedgerSpan, 'startAt' | 'endAt'> {
  return { startAt: decidedAt, endAt: decidedAt };
}

/** Where the record stands that the span was told from. */
function placeOf({ type, seq, hash }: AcceptedRecord): LedgerSpan['attributes'] {
  return { 'record.log': MUTATIONS_LOG, 'record.type': type, 'record.seq': seq, 'record.hash': hash.toString('hex') };
}
