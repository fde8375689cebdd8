// Forward approvals in memory: questions wait until they are decided.
import { canonicalJson } from '@recourse/kernel';
import type { ApprovalAnswer, ApprovalRequest, Approvals } from './approval.port.js';

/** Approvals in memory. For specs and first steps. */
export class MemoryApprovals implements Approvals {
  private readonly asked = new Map<string, ApprovalRequest>();
  private readonly decided = new Map<string, ApprovalAnswer>();

  ask(request: ApprovalRequest): Promise<ApprovalAnswer> {
    const key = keyOf(request);
    const standing = this.asked.get(key);
    const isForMore = standing?.mode === 'human' && request.mode === 'dual_control';
    if (standing === undefined || isForMore) this.asked.set(key, request);
    if (isForMore && this.decided.get(key)?.kind === 'approved') this.decided.delete(key);
    return Promise.resolve(this.decided.get(key) ?? { kind: 'pending' });
  }

  /** Questions nobody has decided yet. */
  open(): readonly ApprovalRequest[] {
    return [...this.asked].filter(([key]) => !this.decided.has(key)).map(([, request]) => request);
  }

  approve(request: ApprovalRequest): void {
    this.decided.set(keyOf(request), { kind: 'approved', actionDigest: request.actionDigest });
  }

  deny(request: ApprovalRequest, reason: string): void {
    this.decided.set(keyOf(request), { kind: 'denied', reason });
  }
}

const keyOf = ({ tenant, runId, effectKey, actionDigest }: ApprovalRequest): string =>
  canonicalJson([tenant, runId, effectKey, actionDigest]);
