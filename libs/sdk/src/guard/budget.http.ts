// The budget over the accountant's HTTP edge.
//
// Shape: POST /v1/reservations {run_id, effect_key, capability, value} → 201 reserved, 202 or 409 escalated, other 4xx
// refused; POST /v1/reservations/<id>/release {run_id, effect_key}. The tenant is the token's.
import { deriveId } from '@recourse/kernel';
import type { Budget, ReservationAnswer, ReservationRequest } from './budget.port.js';

export interface HttpBudgetOptions {
  /** Base address of the accountant, without a slash at its end. */
  readonly url: string;
  /** Bearer token of the caller; asked for before every request. */
  readonly token: () => Promise<string>;
  /** Longest wait for an answer, in milliseconds. Default 5,000. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5_000;

export class HttpBudget implements Budget {
  constructor(private readonly options: HttpBudgetOptions) {}

  async reserve(request: ReservationRequest): Promise<ReservationAnswer> {
    const { runId, effectKey, capability, value } = request;
    try {
      const { status, body } = await this.post('/v1/reservations', { run_id: runId, effect_key: effectKey, capability, value }, `reserve/${idOf(request)}`);
      return answerOf(status, body, idOf(request));
    } catch (cause) {
      return { kind: 'unavailable', cause };
    }
  }

  async release(request: ReservationRequest): Promise<'released' | 'unavailable'> {
    const id = idOf(request);
    try {
      const { status } = await this.post(`/v1/reservations/${id}/release`, { run_id: request.runId, effect_key: request.effectKey }, `release/${id}`);
      return status < 300 ? 'released' : 'unavailable';
    } catch {
      return 'unavailable';
    }
  }

  private async post(path: string, body: object, key: string): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
    const { url, token, timeoutMs = TIMEOUT_MS } = this.options;
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await token()}`, 'idempotency-key': key },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const parsed: unknown = await response.json().catch(() => ({}));
    return { status: response.status, body: typeof parsed === 'object' && parsed !== null ? parsed as Readonly<Record<string, unknown>> : {} };
  }
}

/** What an answer of the edge means for the reservation. */
export function answerOf(status: number, body: Readonly<Record<string, unknown>>, reservationId: string): ReservationAnswer {
  const code = typeof body['code'] === 'string' ? body['code'] : `HTTP_${String(status)}`;
  const isEscalated = body['escalation_id'] !== undefined || body['status'] === 'escalated';
  if (isEscalated || status === 409) return { kind: 'escalated', code };
  if (status === 200 || status === 201) return { kind: 'reserved', reservationId: typeof body['reservation_id'] === 'string' ? body['reservation_id'] : reservationId };
  // 202: recorded later or never; nothing may be done on the strength of it.
  if (status >= 400 && status < 500) return { kind: 'refused', code };
  return { kind: 'unavailable', cause: new Error(code) };
}

const idOf = ({ tenant, runId, effectKey }: ReservationRequest): string => deriveId('res', tenant, runId, effectKey);
