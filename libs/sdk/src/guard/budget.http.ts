// The budget over the accountant's HTTP edge.
//
// Shape: POST /v1/reservations {run_id, effect_key, capability, agent_id, initiator, objective, values, subject_ref, reach, attempt} → 201 reserved,
// 202 or 409 escalated, 409 RESERVATION_DENIED and other 4xx refused; POST /v1/reservations/<id>/release {run_id, effect_key, attempt}. The tenant is the token's.
import { randomUUID } from 'node:crypto';
import { reservationId } from '@recourse/contract';
import type { Excess } from '@recourse/messages';
import { docOf, edgeClient, problemOf } from '../edge/edge.js';
import type { EdgeAnswer, EdgeClient, EdgeOptions } from '../edge/edge.js';
import type { Budget, ReservationAnswer, ReservationRequest } from './budget.port.js';

/** Reserves at the accountant's edge. */
export class HttpBudget implements Budget {
  private readonly accountant: EdgeClient;

  /** `options.url`: base address of the budget accountant. */
  constructor(options: EdgeOptions) {
    this.accountant = edgeClient({ name: 'the budget accountant', ...options });
  }

  async reserve(request: ReservationRequest): Promise<ReservationAnswer> {
    const { runId, effectKey, capability, agentId, initiator, objective, values, subjectRef, reach, attempt } = request;
    try {
      const answer = await this.post('/v1/reservations', {
        run_id: runId,
        effect_key: effectKey,
        capability,
        agent_id: agentId,
        initiator,
        objective,
        values,
        subject_ref: subjectRef,
        reach,
        attempt: attempt ?? null,
      });
      return answerOf(answer, idOf(request));
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }

  async release(request: ReservationRequest): Promise<'released' | 'unavailable'> {
    const id = idOf(request);
    try {
      const { status } = await this.post(`/v1/reservations/${id}/release`, {
        run_id: request.runId,
        effect_key: request.effectKey,
        attempt: request.attempt ?? null,
      });
      return status < 300 ? 'released' : 'unavailable';
    } catch {
      return 'unavailable';
    }
  }

  /** Under a key of its own: the edge answers a key it knows as it did before, and a person may have decided since. */
  private post(path: string, body: object): Promise<EdgeAnswer> {
    return this.accountant.ask({ method: 'POST', path, body, idempotencyKey: randomUUID() });
  }
}

/** Answers that nobody is asked about any more. */
const DECIDED: readonly string[] = ['RESERVATION_DENIED', 'RESERVATION_CONFLICT'];

/** What an answer of the edge means for the reservation. */
export function answerOf(answer: EdgeAnswer, id: string): ReservationAnswer {
  const { status, body } = answer;
  const problem = problemOf(answer);
  const isEscalated = body['escalation_id'] !== undefined || body['status'] === 'escalated';
  const refused = { kind: 'refused', code: problem.code, message: problem.detail } as const;
  if (DECIDED.includes(problem.code)) return refused;
  if (isEscalated || status === 409)
    return {
      kind: 'escalated',
      code: typeof body['code'] === 'string' ? problem.code : 'CEILING_EXCEEDED',
      ...(typeof body['escalation_id'] === 'string' ? { escalationId: body['escalation_id'] } : {}),
      ...(Array.isArray(body['exceeded']) ? { exceeded: body['exceeded'].map(excessOf) } : {}),
    };
  if (status === 200 || status === 201)
    return {
      kind: 'reserved',
      reservationId: typeof body['reservation_id'] === 'string' ? body['reservation_id'] : id,
      ...askedBy(body['autonomy']),
    };
  // 202: recorded later or never; nothing may be done on the strength of it.
  if (status >= 400 && status < 500) return refused;
  return { kind: 'unavailable', cause: problem };
}

function excessOf(told: unknown): Excess {
  const { scope, scope_id, measure, currency, window, used_minor, asked_minor, ceiling_minor } = docOf(told);
  return {
    scope: String(scope),
    scope_id: String(scope_id),
    measure: String(measure),
    currency: String(currency),
    window: String(window),
    used_minor: Number(used_minor),
    asked_minor: Number(asked_minor),
    ceiling_minor: Number(ceiling_minor),
  };
}

/** What the rung of the agent asks for; what nobody knows asks for a person (P14). */
function askedBy(autonomy: unknown): { readonly forwardApproval?: 'human' | 'dual_control' } {
  if (autonomy === undefined) return {};
  const asked = docOf(autonomy)['forward_approval'];
  if (asked === 'policy') return {};
  return { forwardApproval: asked === 'dual_control' ? asked : 'human' };
}

const idOf = ({ tenant, runId, effectKey }: ReservationRequest): string => reservationId(tenant, runId, effectKey);
