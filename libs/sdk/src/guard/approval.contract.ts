// What everybody who asks for approvals does.
import { describe, expect } from '@jest/globals';
import { runCases, type Cases } from '@recourse/testing';
import type { MemoryApprovals } from './approval.memory.js';
import type { ApprovalRequest, Approvals } from './approval.port.js';

/** Who is asked, and the desk where people decide. */
export interface ApprovalsUnderTest {
  readonly approvals: Approvals;
  readonly desk: MemoryApprovals;
}

const REQUEST: ApprovalRequest = {
  tenant: 'acme',
  runId: 'run-1',
  effectKey: 'eff_1',
  capability: 'payments.issue_refund',
  initiator: 'asha',
  objective: 'settle ticket 99',
  agentId: 'agent',
  mode: 'human',
  actionDigest: 'ab',
  args: { order: '4711' },
  rehearsal: null,
  contractDigest: 'ef'.repeat(32),
  subjectRef: 'order/4711',
  attempt: 1,
};
const CHANGED: ApprovalRequest = { ...REQUEST, actionDigest: 'cd' };
const [APPROVED, DENIED] = [
  { kind: 'approved', actionDigest: 'ab' },
  { kind: 'denied', reason: 'no' },
];

export function approvalsContract(name: string, make: () => Promise<ApprovalsUnderTest>): void {
  describe(`the approvals "${name}"`, () => runCases(CASES, make));
}

const CASES: Cases<ApprovalsUnderTest> = {
  'are one question, however often it is asked': async ({ approvals, desk }) => {
    expect([await approvals.ask(REQUEST), await approvals.ask(REQUEST)]).toEqual([
      { kind: 'pending' },
      { kind: 'pending' },
    ]);
    expect(desk.open()).toEqual([REQUEST]);
  },

  'are given for one action, and not for a changed one': async ({ approvals, desk }) => {
    await approvals.ask(REQUEST);
    desk.approve(REQUEST);
    expect(await approvals.ask(REQUEST)).toEqual(APPROVED);
    expect(await approvals.ask(CHANGED)).toEqual({ kind: 'pending' });
  },

  'are not given to two people by one of them': async ({ approvals, desk }) => {
    const forTwo: ApprovalRequest = { ...REQUEST, mode: 'dual_control' };
    await approvals.ask(REQUEST);
    expect(await approvals.ask(forTwo)).toEqual({ kind: 'pending' });
    expect(desk.open()).toEqual([forTwo]);
    desk.approve(forTwo);
    expect(await approvals.ask(forTwo)).toEqual(APPROVED);
  },

  'are void once two people are asked, and stay denied': async ({ approvals, desk }) => {
    await approvals.ask(REQUEST);
    desk.approve(REQUEST);
    expect(await approvals.ask({ ...REQUEST, mode: 'dual_control' })).toEqual({ kind: 'pending' });
    await approvals.ask(CHANGED);
    desk.deny(CHANGED, 'no');
    expect(await approvals.ask({ ...CHANGED, mode: 'dual_control' })).toEqual(DENIED);
  },

  'are denied with a reason': async ({ approvals, desk }) => {
    await approvals.ask(REQUEST);
    desk.deny(REQUEST, 'no');
    expect(await approvals.ask(REQUEST)).toEqual(DENIED);
  },
};
