// What everybody who asks for approvals does.
import { describe, expect, it } from '@jest/globals';
import type { MemoryApprovals } from './approval.memory.js';
import type { ApprovalRequest, Approvals } from './approval.port.js';

/** Who is asked, and the desk where people decide. */
export interface ApprovalsUnderTest {
  readonly approvals: Approvals;
  readonly desk: MemoryApprovals;
}

export function approvalsContract(name: string, make: () => Promise<ApprovalsUnderTest>): void {
  const request: ApprovalRequest = {
    tenant: 'acme',
    runId: 'run-1',
    effectKey: 'eff_1',
    capability: 'payments.issue_refund',
    initiator: 'asha',
    agentId: 'agent',
    mode: 'human',
    actionDigest: 'ab',
    args: { order: '4711' },
    rehearsal: null,
    contractDigest: 'ef'.repeat(32),
    subjectRef: 'order/4711',
    attempt: 1,
  };
  const [changed, approved, denied] = [
    { ...request, actionDigest: 'cd' },
    { kind: 'approved', actionDigest: 'ab' },
    { kind: 'denied', reason: 'no' },
  ];

  describe(`the approvals "${name}"`, () => {
    it('are one question, however often it is asked', async () => {
      const { approvals, desk } = await make();
      expect([await approvals.ask(request), await approvals.ask(request)]).toEqual([
        { kind: 'pending' },
        { kind: 'pending' },
      ]);
      expect(desk.open()).toEqual([request]);
    });

    it('are given for one action, and not for a changed one', async () => {
      const { approvals, desk } = await make();
      await approvals.ask(request);
      desk.approve(request);
      expect(await approvals.ask(request)).toEqual(approved);
      expect(await approvals.ask(changed)).toEqual({ kind: 'pending' });
    });

    it('are denied with a reason', async () => {
      const { approvals, desk } = await make();
      await approvals.ask(request);
      desk.deny(request, 'no');
      expect(await approvals.ask(request)).toEqual(denied);
    });
  });
}
