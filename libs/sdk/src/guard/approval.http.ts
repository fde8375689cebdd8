// Forward approvals over HTTP, from whatever asks people in your house.
//
// Shape: POST /v1/forward-approvals {run_id, effect_key, capability, initiator, agent_id, mode, action_digest, args, rehearsal}
// with an Idempotency-Key → 200 or 202 {status: approved | pending | denied, action_digest, reason}. The tenant is the token's.
import { deriveId } from '@recourse/kernel';
import type { ApprovalAnswer, ApprovalRequest, Approvals } from './approval.port.js';
import type { EdgeOptions } from './edge.js';
import { askEdge } from './edge.js';

export class HttpApprovals implements Approvals {
  constructor(private readonly options: EdgeOptions) {}

  async ask(request: ApprovalRequest): Promise<ApprovalAnswer> {
    const { tenant, runId, effectKey, capability, initiator, agentId, mode, actionDigest, args, rehearsal } = request;
    const body = { run_id: runId, effect_key: effectKey, capability, initiator, agent_id: agentId, mode, action_digest: actionDigest, args, rehearsal };
    try {
      const idempotencyKey = deriveId('ask', tenant, runId, effectKey, actionDigest);
      const answer = await askEdge(this.options, { method: 'POST', path: '/v1/forward-approvals', body, idempotencyKey });
      return approvalOf(answer.status, answer.body);
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }
}

/** What an answer means. Only a plain `approved` that names the action approves. */
export function approvalOf(status: number, body: Readonly<Record<string, unknown>>): ApprovalAnswer {
  const { status: state, action_digest: actionDigest, reason } = body;
  if (status === 200 && state === 'approved' && typeof actionDigest === 'string') return { kind: 'approved', actionDigest };
  if ((status === 200 || status === 202) && state === 'pending') return { kind: 'pending' };
  if (status === 200 && state === 'denied') return { kind: 'denied', reason: typeof reason === 'string' ? reason : 'no reason was given' };
  return { kind: 'unavailable', cause: new Error(`the approvals answered ${String(status)}`) };
}
