// The tools of the adapter payments: issue a refund, reverse it, look at one. Agent, worker and drill call the same.
import type { Json } from '@recourse/kernel';
import { happened, notHappened, ToolRejected } from '@recourse/sdk';
import type { ForwardTool, Tool } from '@recourse/sdk';
import { z } from 'zod';
import { askProvider } from '../common/http.js';
import type { HttpAsk } from '../common/http.js';

const argsShape = z.object({ refund_id: z.string().min(1) });
const refundShape = z.object({ refund_id: z.string() });
const effectsShape = z.object({
  effects: z.array(z.object({ kind: z.string(), key: z.string(), refund_id: z.string() })),
});

/** The call an agent guards. Units: `timeoutMs` is the longest a request may take. */
export function refundTool(providerUrl: string, timeoutMs: number): ForwardTool {
  return {
    execute: (args, { idempotencyKey }) =>
      askProvider('the provider', `${providerUrl}/refunds`, {
        method: 'POST',
        body: Object(args) as object,
        headers: { 'idempotency-key': idempotencyKey },
        timeoutMs,
      }),
    externalTransactionRef: (result) => {
      const parsed = refundShape.safeParse(result);
      return parsed.success ? parsed.data.refund_id : null;
    },
  };
}

/** Tools of a worker against a provider. Units: `timeoutMs` is the longest a request may take. */
export function paymentTools(
  providerUrl: string,
  timeoutMs: number,
): { readonly reverseRefund: Tool; readonly getRefund: Tool } {
  const askThem = (path: string, how: HttpAsk = {}): Promise<Json> =>
    askProvider('the provider', `${providerUrl}${path}`, { ...how, timeoutMs });

  /** Whether the refund of a forward call is there: the provider's list of effects names the key of each. */
  async function findRefund(key: string): Promise<Json> {
    const { effects } = effectsShape.parse(await askThem('/effects'));
    const made = effects.find((effect) => effect.kind === 'refund' && effect.key === key);
    return made === undefined
      ? notHappened()
      : happened(await askThem(`/refunds/${encodeURIComponent(made.refund_id)}`), made.refund_id);
  }

  return {
    reverseRefund: (args, { idempotencyKey }) =>
      askThem(`/refunds/${idOf(args)}/reverse`, { method: 'POST', headers: { 'idempotency-key': idempotencyKey } }),
    getRefund: (args, { phase, idempotencyKey }) =>
      phase === 'reconcile' && !argsShape.safeParse(args).success
        ? findRefund(idempotencyKey)
        : askThem(`/refunds/${idOf(args)}`, { headers: { 'x-purpose': phase } }),
  };
}

function idOf(args: Json): string {
  const parsed = argsShape.safeParse(args);
  if (!parsed.success) throw new ToolRejected('ARGS_INVALID', 'refund_id is needed');
  return encodeURIComponent(parsed.data.refund_id);
}
