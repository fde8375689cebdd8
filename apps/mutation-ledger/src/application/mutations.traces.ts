// What the ledger adds to the trace of a rollback (C50): that it marked the commit, and that it took note of the end.
//
// Boundary: pure. The trace is about the rollback's id, and hangs on the orchestrator's span `trigger`.
import type { AcceptedRecord } from '@recourse/event-log';
import { recordIn } from '@recourse/messages';
import { MUTATIONS_LOG } from '../domain/record.messages.js';

/** A span that has ended; times are epoch milliseconds. */
export interface LedgerSpan {
  /** Id of the rollback. */
  readonly about: string;
  readonly name: 'mark' | 'settlement';
  readonly which: string;
  readonly parent: { readonly name: 'trigger'; readonly which: '' };
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
  const { decidedAt, seq } = accepted;
  const { type, body } = recordIn(MUTATIONS_LOG, accepted);
  const moment = { parent: TRIGGER, startAt: decidedAt, endAt: decidedAt } as const;
  const place = { 'record.log': MUTATIONS_LOG, 'record.type': type, 'record.seq': seq };
  if (type === 'MutationRolledBack') {
    const { rollback_id, tenant, run_id, mutation_id, execution, recoverability } = body;
    return [
      {
        about: rollback_id,
        name: 'mark',
        which: '',
        ...moment,
        attributes: { ...place, tenant, run_id, mutation_id, capability: execution.capability, recoverability },
        problem: null,
      },
    ];
  }
  if (type !== 'RecoverabilityChanged') return [];
  const { rollback_id, tenant, run_id, mutation_id, ref, to_state, reason } = body;
  if (rollback_id === null || !ENDS.includes(to_state)) return [];
  const problem = to_state === 'compensated' ? null : (reason ?? to_state);
  return [
    {
      about: rollback_id,
      name: 'settlement',
      which: String(seq),
      ...moment,
      attributes: { ...place, tenant, run_id, mutation_id, capability: ref.capability, recoverability: to_state },
      problem,
    },
  ];
}
