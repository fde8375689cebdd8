// People agree to one attempt: what an attempt that failed used up is no word about the next (P4, A84).
import { describe, expect, it } from '@jest/globals';
import { fact, WAYS } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { accountant, AGENT, DONE, praised, REFUNDS, used } from './budgets.autonomy.testing.js';
import { recorded, releaseOf, reserve } from './budgets.testing.js';

const WAIT = 5 * 60_000;
const OVER = 100_000 + WAIT;

describe.each(WAYS)(
  'an effect that is tried again, and that its rung wants people asked about, $way',
  ({ isRebuilt }) => {
    const wanting = (forward_approval: string) => {
      const rungs = { execute_with_approval: { forward_approval }, draft: {}, recommend: {} };
      const { desk, digest } = accountant(isRebuilt, { rungs });
      const refund = (command_id: string, attempt = 1) =>
        reserve('a', 500, { capability: REFUNDS, attempt, who: { principal: AGENT, command_id } });
      const ended = (began: number, at: number, more: object = {}) =>
        recorded('a', 500, { digest, capability: REFUNDS, actionDigest: DONE, began, at, ...more });
      const failed = (began: number, at: number) =>
        ended(began, at, { state: 'failed', recoverability: 'planned', actionDigest: undefined });
      return { desk: praised(desk), refund, ended, failed };
    };
    const isBreach = (desk: CoreHarness): boolean => {
      desk.whenDue(OVER + WAIT);
      return desk.rows('escalation').length > 0;
    };
    const givenBack = (command_id: string) => releaseOf('a', { principal: AGENT, command_id });

    it.each([
      ['that it gave back at once', true, 10_100],
      ['that was freed as the failure was heard', false, 10_100],
      ['whose failure the ledger took late', true, 40_000],
    ])('wants them asked anew after an attempt %s', (_what, isGivenBack, failedAt) => {
      for (const isAsked of [true, false]) {
        const { desk, refund, ended, failed } = wanting('human');
        desk.when(refund('c1'), 9_000).when(used('a', { at: 9_990 }), 9_990);
        if (isGivenBack) desk.when(givenBack('c2'), 10_050);
        desk
          .when(failed(10_000, failedAt), failedAt)
          .when(refund('c3'), 50_000)
          .then(fact('BudgetReserved', { forward_approval: 'human' }));
        if (isAsked)
          desk.when(used('a', { at: 60_000 }), 60_000).then(fact('ForwardApprovalNoted', { used_at: 60_000 }));
        desk.when(ended(70_000, 70_100), 70_100).then(fact('BudgetSettled', {}));
        expect(isBreach(desk)).toBe(!isAsked);
      }
    });

    it.each([
      ['the approval before the failure', ['used', 'failed']],
      ['the failure before the approval', ['failed', 'used']],
    ])('wants them asked anew where it is heard of %s', (_what, order) => {
      const { desk, refund, ended, failed } = wanting('human');
      const inputs = { used: used('a', { at: 9_990 }), failed: failed(10_000, 10_100) };
      desk.when(refund('c1'), 9_000);
      for (const [at, name] of order.entries()) desk.when(inputs[name as keyof typeof inputs], 10_200 + at);
      desk.when(refund('c3'), 50_000).when(ended(70_000, 70_100), 70_100);
      expect(isBreach(desk)).toBe(true);
    });

    it('takes the word that came for the next attempt at once, as the clock of its producer has it', () => {
      for (const clock of [-1_500, 0, 1_500]) {
        const { desk, refund, ended, failed } = wanting('human');
        desk
          .when(refund('c1'), 9_000)
          .when(used('a', { at: 9_990 }), 9_990)
          .when(givenBack('c2'), 10_050)
          .when(refund('c3'), 10_060)
          .when(used('a', { at: 10_100 }), 10_100)
          .when(failed(10_000 + clock, 12_000), 12_000)
          .when(ended(10_110 + clock, 12_100), 12_100);
        expect(isBreach(desk)).toBe(false);
      }
    });

    it('wants them asked anew of an attempt that goes on with what the one before had reserved', () => {
      for (const isAsked of [true, false]) {
        const { desk, refund, ended, failed } = wanting('human');
        desk.when(refund('c1'), 9_000).when(used('a', { at: 9_990 }), 9_990);
        desk.when(refund('c2', 2), 10_110).then(fact('BudgetRetried', { attempt: 2, forward_approval: 'human' }));
        desk.when(failed(10_000, 10_100), 12_000);
        if (isAsked) desk.when(used('a', { at: 60_000 }), 60_000);
        desk.when(ended(70_000, 70_100), 70_100).then(fact('BudgetSettled', {}));
        expect(isBreach(desk)).toBe(!isAsked);
      }
    });

    it('that was reserved, given back and reserved again, and failed never, has the word that it has', () => {
      const { desk, refund, ended } = wanting('human');
      desk
        .when(refund('c1'), 9_000)
        .when(used('a', { at: 9_990 }), 9_990)
        .when(givenBack('c2'), 10_050)
        .when(refund('c3'), 50_000)
        .when(ended(70_000, 70_100), 70_100);
      expect(isBreach(desk)).toBe(false);
    });

    it('takes the word of more people that comes after that of fewer', () => {
      const { desk, refund, ended } = wanting('dual_control');
      desk
        .when(refund('c1'), 9_000)
        .when(used('a', { agreedBy: ['dana'], at: 9_990 }), 9_990)
        .when(used('a', { agreedBy: ['dana', 'eve'], at: 60_000 }), 60_000)
        .when(used('a', { agreedBy: ['dana', 'eve'], at: 60_000 }), 60_001)
        .thenNothing()
        .when(ended(70_000, 70_100), 70_100);
      expect(isBreach(desk)).toBe(false);
    });

    it('keeps its last attempts and no more, and accuses nobody who had each of them agreed to', () => {
      const { desk, refund, ended, failed } = wanting('human');
      for (let at = 10_000; at < 25_000; at += 1_000) {
        desk.when(refund(`c${String(at)}`), at).when(used('a', { at: at + 10 }), at + 10);
        desk.when(failed(at + 20, at + 30), at + 30);
      }
      desk.when(refund('c'), 25_000).when(used('a', { at: 25_010 }), 25_010);
      expect(desk.rows('reservation')[0]?.doc['failed']).toHaveLength(7);
      expect(desk.rows('noted_approval')[0]?.doc['earlier']).toHaveLength(7);
      desk.when(ended(25_020, 25_030), 25_030);
      expect(isBreach(desk)).toBe(false);
    });

    it('of which a failure is told twice fails once, and nothing is noted of one that nobody had to be asked about', () => {
      const { desk, refund, failed } = wanting('human');
      desk.when(refund('c1'), 9_000).when(failed(10_000, 10_100), 10_100);
      desk.when(failed(10_000, 10_200), 10_200).thenNothing();
      const { desk: free, refund: asked, failed: vain } = wanting('policy');
      free.when(asked('c1'), 9_000).when(vain(10_000, 10_100), 10_100).then(fact('BudgetReleased', {}));
    });
  },
);
