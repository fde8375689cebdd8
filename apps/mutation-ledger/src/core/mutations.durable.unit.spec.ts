// What stands in the log of the ledger, and is there after every restart: facts (C19), identity (C25), pointers (D10), lineage (F6).
import { describe, expect, it } from '@jest/globals';
import type { AcceptedRecord } from '@recourse/event-log';
import { plainPayload } from '@recourse/contract';
import { fallenIn } from '@recourse/messages';
import type { MutationsFell, MutationRecorded, MutationRef } from '@recourse/messages';
import { eachMember, fact, WAYS } from '@recourse/testing';
import { agentEffectOf } from '../rules/effect/effect.decisions.js';
import type { Mutation } from '../rules/mutation/mutation.messages.js';
import {
  DISPATCHED,
  EVIDENCE,
  executed,
  intent,
  ledger,
  MUTATION,
  NOW,
  planned,
  refund,
  REF,
  TRIGGERED,
  RUN,
  state,
  statement,
  TENANT,
  fell,
} from './ledger.testing.js';
import { mutationIdOf } from '../core.js';

describe.each(WAYS)('an effect on record, $way', ({ isRebuilt }) => {
  const start = () => ledger({ isRebuilt }).run;
  // Rows of this kind are mutations.
  const effect = (run: ReturnType<typeof start>) => agentEffectOf(run.rows('mutation')[0]?.doc as Mutation);

  it('says with which tool and arguments, on what, whether that is proven, and whether it was compensated (C19)', () => {
    const uncertain = start().when(
      executed(refund({ outcome: 'uncertain', result: null, external_transaction_ref: null })),
      NOW,
    );
    expect(effect(uncertain)).toMatchObject({
      tool_name: 'payments.issue_refund',
      arguments: refund().args,
      external_ref: null,
      status: 'uncertain',
      compensation_attempts: 0,
    });
    const proven = uncertain.when(executed(refund({ event_id: 'ev-2' })), NOW + 1);
    expect(effect(proven)).toMatchObject({ external_ref: 're_1', status: 'succeeded', compensation_attempts: 0 });
    proven.when(TRIGGERED, NOW + 2).when(DISPATCHED, NOW + 3);
    expect(effect(proven)).toMatchObject({
      tool_name: 'payments.issue_refund',
      arguments: refund().args,
      external_ref: 're_1',
      status: 'compensating',
      compensation_attempts: 1,
    });
  });

  it('is the same one after a crash, a retry and a replan (C25)', () => {
    const run = start()
      .when(planned(intent()), NOW)
      .when(executed(refund({ outcome: 'uncertain', result: null, external_transaction_ref: null })), NOW + 1);
    run.when(planned(intent({ event_id: 'replanned' })), NOW + 2).thenNothing();
    run
      .when(executed(refund({ event_id: 'ev-2', call_id: 'call-2' })), NOW + 3)
      .then(fact('MutationRecorded', { mutation_id: MUTATION, execution_state: 'succeeded' }));
    run.when(executed(refund({ event_id: 'ev-3', call_id: 'call-2' })), NOW + 4).thenNothing();
    expect(run.rows('mutation').map(({ key }) => key)).toEqual([MUTATION]);
  });

  it('keeps its whole recovery pointer for whoever recovers it later (D9, D10)', () => {
    const run = start().when(executed(refund()), NOW);
    const { ref: bound } = run.records()[0]?.body as unknown as { readonly ref: MutationRef };
    expect(bound).toMatchObject({
      reversal_args: plainPayload({
        refund_id: 're_1',
        amount_minor: 4_200,
        currency: 'INR',
        reason: 'agent_effect_compensation',
      }),
      assumption_refs: [REF],
      external_transaction_ref: 're_1',
      idempotency_key: 'key-1',
    });
    run.when(TRIGGERED, NOW + 1_000).then(fell({ mutation_id: MUTATION, ref: { ...bound } }));
  });
});

describe('the log alone (F6)', () => {
  /** Everything a false assumption reaches, from records and nothing else: who relied on it, what fell, which record it fell from. */
  function closureOf(records: readonly AcceptedRecord[], ref: string) {
    const of = <Body>(type: string): readonly Body[] =>
      records.filter((record) => record.type === type).map(({ body }) => body as unknown as Body);
    const relying = of<MutationRecorded>('MutationRecorded')
      .filter(({ judged }) => judged.some((each) => each.ref === ref))
      .map(({ mutation_id }) => mutation_id);
    const all = of<MutationsFell>('MutationsFell').flatMap(fallenIn);
    const fallen = all.filter(({ evidence }) => evidence.ref === ref).map(({ mutation_id }) => mutation_id);
    const undone = all.map(({ mutation_id, recorded_hash, evidence }) => ({
      mutation_id,
      because: evidence.event_id,
      of: records.find(({ hash }) => hash.equals(recorded_hash))?.body['mutation_id'],
    }));
    return { relying: [...new Set(relying)].sort(), fallen: fallen.sort(), undone };
  }

  it('tells what a false assumption reaches, what was rolled back for it, and which record bound it', () => {
    const { run, assumptions } = ledger();
    const others = [
      refund({ effect_key: 'refund-4712', call_id: 'call-2', event_id: 'ev-2' }),
      refund({ effect_key: 'refund-4713', call_id: 'call-3', event_id: 'ev-3', assumption_refs: ['order/4713#open'] }),
    ];
    [refund(), ...others].forEach((each, at) => run.when(executed(each), NOW + at));
    run.when(state(assumptions, statement('invalidated', 'inv-1')), NOW + 10);
    const [first, second] = [MUTATION, ...others.map(mutationIdOf)];
    expect(closureOf(run.records(), REF)).toEqual({
      relying: [first, second].sort(),
      fallen: [first, second].sort(),
      undone: [second, first].map((id) => ({ mutation_id: id, because: EVIDENCE.event_id, of: id })),
    });
    expect(run.derived()).toHaveLength(1);
    expect(
      eachMember(run.derived()).map(({ type, body }) => [type, body['mutation_id'], body['run_id'], body['tenant']]),
    ).toEqual([second, first].map((id) => ['RollbackAnnounced', id, RUN, TENANT]));
  });
});
