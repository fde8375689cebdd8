// Forward approvals over the orchestrator's HTTP edge, or over any other that asks people so.
//
// Shape: GET /v1/forward-approvals/<id> → 200 {status: pending | approved | denied | used | expired, round, required_approvals, attempt, action_digest,
// reason}, 404;
// POST /v1/forward-approvals {run_id, effect_key, capability, contract_digest, subject_ref, initiator, objective, agent_id, mode, action_digest,
// args, rehearsal} → 200, 201 or 202 with the same; POST /v1/forward-approvals/<id>/use {action_digest, attempt} → 200 {status: used, …}.
// The id follows from what is asked about, and the tenant is the token's.
import { forwardApprovalId } from '@recourse/contract';
import { randomUUID } from 'node:crypto';
import { deriveId } from '@recourse/kernel';
import { edgeClient, problemOf } from '../edge/edge.js';
import type { EdgeAnswer, EdgeClient, EdgeOptions } from '../edge/edge.js';
import type { ApprovalAnswer, ApprovalRequest, Approvals } from './approval.port.js';

/** Asks for approvals at the orchestrator's edge. */
export class HttpApprovals implements Approvals {
  private readonly desk: EdgeClient;

  /** `options.url`: base address of the orchestrator. */
  constructor(options: EdgeOptions) {
    this.desk = edgeClient({ name: 'the orchestrator', ...options });
  }

  async ask(request: ApprovalRequest): Promise<ApprovalAnswer> {
    try {
      const standing = await this.desk.ask({ method: 'GET', path: pathOf(request) });
      const next = nextStep(standing, request);
      switch (next.do) {
        case 'answer':
          return next.answer;
        case 'use':
          return await this.use(request, next.round);
        case 'use_again':
          return (await this.useAgain(request)) ?? (await this.opened(request, next.round + 1));
        case 'open':
          return await this.opened(request, next.round);
      }
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }

  private async opened(request: ApprovalRequest, round: number): Promise<ApprovalAnswer> {
    const next = nextStep(await this.open(request, round), request);
    if (next.do === 'use') return this.use(request, next.round);
    return next.do === 'answer' ? next.answer : { kind: 'pending' };
  }

  private open(request: ApprovalRequest, round: number): Promise<EdgeAnswer> {
    const {
      tenant,
      runId,
      effectKey,
      capability,
      contractDigest,
      subjectRef,
      initiator,
      agentId,
      objective,
      mode,
      actionDigest,
      args,
      rehearsal,
    } = request;
    const body = {
      run_id: runId,
      effect_key: effectKey,
      capability,
      contract_digest: contractDigest,
      subject_ref: subjectRef,
      initiator,
      agent_id: agentId,
      objective,
      mode,
      action_digest: actionDigest,
      args,
      rehearsal,
    };
    return this.desk.ask({
      method: 'POST',
      path: '/v1/forward-approvals',
      body,
      idempotencyKey: deriveId('ask', tenant, runId, effectKey, actionDigest, String(round)),
    });
  }

  /** One approval, one attempt. */
  private async use(request: ApprovalRequest, round: number): Promise<ApprovalAnswer> {
    const { tenant, runId, effectKey, actionDigest, attempt } = request;
    const key = deriveId('use', tenant, runId, effectKey, actionDigest, String(round), String(attempt));
    // It ran out, or somebody else used it, between the look and the use: asking again opens the question anew.
    return (await this.used(request, key)) ?? { kind: 'pending' };
  }

  /** The same attempt may say so again until the approval runs out, which its first answer does not know. */
  private useAgain(request: ApprovalRequest): Promise<ApprovalAnswer | null> {
    return this.used(request, `use_${randomUUID()}`);
  }

  /** null where it may not be used. */
  private async used(request: ApprovalRequest, idempotencyKey: string): Promise<ApprovalAnswer | null> {
    const { actionDigest, attempt } = request;
    const answer = await this.desk.ask({
      method: 'POST',
      path: `${pathOf(request)}/use`,
      body: { action_digest: actionDigest, attempt },
      idempotencyKey,
    });
    const { status, body } = answer;
    if (
      status === 200 &&
      body['status'] === 'used' &&
      body['attempt'] === attempt &&
      typeof body['action_digest'] === 'string'
    )
      return { kind: 'approved', actionDigest: body['action_digest'] };
    return status === 409 ? null : unavailable(answer);
  }
}

type NextStep =
  | { readonly do: 'answer'; readonly answer: ApprovalAnswer }
  | { readonly do: 'use' | 'use_again' | 'open'; readonly round: number };

/**
 * What is to be done, from what stands. Pure. Only a plain `approved` is used; what is not understood approves nothing, and neither does
 * what fewer people were asked than are now.
 */
export function nextStep(answer: EdgeAnswer, { attempt, mode }: Pick<ApprovalRequest, 'attempt' | 'mode'>): NextStep {
  const { status, body } = answer;
  if (status === 404 && body['code'] === 'NOT_FOUND') return { do: 'open', round: 1 };
  const { status: state, round, reason } = body;
  if (![200, 201, 202].includes(status) || typeof round !== 'number')
    return { do: 'answer', answer: unavailable(answer) };
  if (ASKED.includes(state) && peopleIn(body) < PEOPLE[mode]) return { do: 'open', round: round + 1 };
  switch (state) {
    case 'pending':
      return { do: 'answer', answer: { kind: 'pending' } };
    case 'denied':
      return {
        do: 'answer',
        answer: { kind: 'denied', reason: typeof reason === 'string' ? reason : 'no reason was given' },
      };
    case 'approved':
      return { do: 'use', round };
    case 'used':
      return body['attempt'] === attempt ? { do: 'use_again', round } : { do: 'open', round: round + 1 };
    case 'expired':
      return { do: 'open', round: round + 1 };
    default:
      return { do: 'answer', answer: unavailable(answer) };
  }
}

/** States of a question that so many people were asked; a denial stays whoever was asked. */
const ASKED: readonly unknown[] = ['pending', 'approved', 'used'];
const PEOPLE = { human: 1, dual_control: 2 } as const satisfies Record<ApprovalRequest['mode'], number>;

/** How many people have to agree; one where nobody says. */
function peopleIn({ required_approvals: people }: EdgeAnswer['body']): number {
  return typeof people === 'number' ? people : 1;
}

function unavailable(answer: EdgeAnswer): ApprovalAnswer {
  return { kind: 'unavailable', cause: problemOf(answer) };
}

function pathOf({ tenant, runId, effectKey, actionDigest }: ApprovalRequest): string {
  return `/v1/forward-approvals/${forwardApprovalId(tenant, runId, effectKey, actionDigest)}`;
}
