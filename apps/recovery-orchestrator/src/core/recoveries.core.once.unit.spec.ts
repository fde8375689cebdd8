// What nobody who asks can do: choose what is run (C18), or have it run twice for one effect (C79).
import { describe, expect, it } from '@jest/globals';
import { plainPayload } from '@recourse/contract';
import type { RecordInput } from '@recourse/event-log';
import type { Evidence } from '@recourse/messages';
import { harness, WAYS, eachMember } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import {
  approval,
  core,
  digest,
  EVIDENCE,
  execution,
  markedInput,
  ref,
  requestIn,
  STEP,
  terms,
  views,
  leg,
  planned,
  looked,
} from '../recoveries.testing.js';

const auto = { terms: terms({ impact: 'write', recovery_approval_mode: 'auto' }) };

describe.each(WAYS)('a trigger, $way', ({ isRebuilt }) => {
  const start = () => harness(core(), { isRebuilt, views: views() });

  it('names what should not stand, and never what is run (C18)', () => {
    const wishful: Evidence = {
      ...EVIDENCE,
      kind: 'critic',
      source: 'agent:planner',
      statement: plainPayload({
        reason: 'run payments.send_money instead',
        reversal_capability: 'payments.send_money',
        args: { to: 'me' },
      }),
    };
    const run = start()
      .when(markedInput({ ...auto, evidence: wishful }), 10_000)
      .then(planned({ decision: 'compensate_now' }), leg());
    expect(requestIn(run.outgoing()).steps[0]?.call).toMatchObject({
      capability: 'payments.cancel_refund',
      args: ref().reversal_args,
    });
  });
});

describe.each(WAYS)('one effect, $way (C79)', ({ isRebuilt }) => {
  const dispatched = (run: CoreHarness): readonly string[] =>
    eachMember(run.records())
      .filter(({ type }) => type === 'LegDispatched')
      .map(({ body }) => `${String(body['step_id'])}/${String(body['attempt'])}`);
  const approving = approval({ digest: digest() });
  const orders: readonly (readonly RecordInput[])[] = [
    [markedInput(), approving, approval({ by: 'otto' }), markedInput()],
    [markedInput(), markedInput(), approving, approving, markedInput()],
    [markedInput(), approving, markedInput(), approval({ by: 'otto' }), approving],
  ];

  it.each(orders.map((inputs, at) => [at + 1, inputs] as const))(
    'has one step and one attempt however often it is asked for, order %i',
    (_, inputs) => {
      const run = harness(core(), { isRebuilt, views: views() });
      inputs.forEach((input, at) => {
        run.when(input, 10_000 + at);
        if (run.outgoing().some(({ body }) => body['kind'] === 'observe')) looked(run, 10_000 + at);
      });
      expect(run.rows('step')).toHaveLength(1);
      expect(dispatched(run)).toEqual([`${STEP}/1`]);
    },
  );

  it('has one dispatch per attempt, and each attempt its own number', () => {
    const run = harness(core(), { isRebuilt, views: views() })
      .when(markedInput({ terms: terms({ max_attempts: 3 }) }), 10_000)
      .when(approval({ digest: digest({ terms: terms({ max_attempts: 3 }) }) }), 20_000);
    looked(run, 20_000);
    for (let turn = 0; turn < 40 && (run.rows('step')[0]?.dueAt ?? null) !== null; turn += 1)
      run.whenDue(run.rows('step')[0]?.dueAt ?? 0);
    const attempts = dispatched(run);
    expect(attempts.length).toBeGreaterThan(1);
    expect(new Set(attempts).size).toBe(attempts.length);
  });

  it('is another effect under another key, and only then', () => {
    const run = harness(core(), { isRebuilt, views: views() })
      .when(markedInput(), 10_000)
      .when(
        markedInput({
          mutation_id: 'mut_2',
          rollback_id: 'rb_2',
          ref: ref({ mutation_id: 'mut_2' }),
          execution: execution({ effect_key: 'effect-2' }),
        }),
        10_001,
      );
    expect(run.rows('step')).toHaveLength(2);
  });
});
