// What an agent has earned decides with the contract who is asked before an effect (A84).
import { describe, expect, it } from '@jest/globals';
import { MemoryApprovals } from './approval.memory.js';
import { answerOf } from './budget.http.js';
import { MemoryBudget } from './budget.memory.js';
import type { ReservationAnswer, ReservationRequest } from './budget.port.js';
import { refund } from './guard.testing.js';

/** Where an answer came from. */
const FROM = { location: null, from: 'the budget accountant' };

/** A budget that answers as the accountant does for an agent on a rung. */
class EarnedBudget extends MemoryBudget {
  readonly released: string[] = [];

  constructor(private readonly forwardApproval: 'human' | 'dual_control') {
    super(10_000_000);
  }

  override async reserve(request: ReservationRequest): Promise<ReservationAnswer> {
    const answer = await super.reserve(request);
    return answer.kind === 'reserved' ? { ...answer, forwardApproval: this.forwardApproval } : answer;
  }

  override release(request: ReservationRequest): ReturnType<MemoryBudget['release']> {
    this.released.push(request.effectKey);
    return super.release(request);
  }
}

describe('the rung of an agent', () => {
  it('has a person asked where the contract asks nobody, in the round trip of the reservation', async () => {
    const [approvals, budget] = [new MemoryApprovals(), new EarnedBudget('human')];
    const { run, calls } = refund({ contract: { forward_approval: 'policy' }, options: { approvals, budget } });
    expect(await run()).toMatchObject({ kind: 'refused', code: 'APPROVAL_PENDING' });
    expect(calls()).toBe(0);
    const [question] = approvals.open();
    expect(question?.mode).toBe('human');
    expect(budget.released).toEqual([]);
    if (question !== undefined) approvals.approve(question);
    expect(await run()).toMatchObject({ kind: 'succeeded' });
  });

  it.each([
    ['human', 'dual_control', 'dual_control'],
    ['dual_control', 'human', 'dual_control'],
    ['human', 'human', 'human'],
  ] as const)('and the contract: of %s and %s the stricter is asked', async (contract, rung, mode) => {
    const [approvals, budget] = [new MemoryApprovals(), new EarnedBudget(rung)];
    await refund({ contract: { forward_approval: contract }, options: { approvals, budget } }).run();
    expect(approvals.open()).toMatchObject([{ mode }]);
  });

  it('has what was reserved given back when people deny', async () => {
    const [approvals, budget] = [new MemoryApprovals(), new EarnedBudget('human')];
    const { run } = refund({ contract: { forward_approval: 'policy' }, options: { approvals, budget } });
    await run();
    approvals.open().forEach((question) => {
      approvals.deny(question, 'no');
    });
    expect(await run()).toMatchObject({ code: 'APPROVAL_DENIED' });
    expect(budget.released).toHaveLength(1);
  });

  it.each([
    [{ autonomy: { forward_approval: 'policy' } }, undefined],
    [{ autonomy: { forward_approval: 'human' } }, 'human'],
    [{ autonomy: { forward_approval: 'dual_control' } }, 'dual_control'],
    [{ autonomy: { forward_approval: 'whatever comes' } }, 'human'],
    [{ autonomy: {} }, 'human'],
    [{}, undefined],
  ])('is read from the answer to a reservation: %j', (body, asked) => {
    const answer = answerOf({ ...FROM, status: 201, body: { reservation_id: 'r', ...body } }, 'r');
    expect(answer.kind === 'reserved' ? answer.forwardApproval : 'not reserved').toBe(asked);
  });

  it('that is too low for the effect refuses the call', async () => {
    const answer = answerOf({ ...FROM, status: 403, body: { code: 'RUNG_TOO_LOW', detail: 'd' } }, 'r');
    expect(answer).toEqual({ kind: 'refused', code: 'RUNG_TOO_LOW', message: 'd' });
    const budget = Object.assign(new MemoryBudget(1), { reserve: () => Promise.resolve(answer) });
    expect(await refund({ options: { budget } }).run()).toMatchObject({
      code: 'BUDGET_REFUSED',
      problems: [{ message: 'RUNG_TOO_LOW: d' }],
    });
  });
});
