// The tools of the adapter payments: reverse a refund, look at one. The worker and its drill call the same.
import type { Json } from '@recourse/kernel';
import { happened, notHappened, ToolRejected } from '@recourse/sdk';
import type { Tool } from '@recourse/sdk';
import { z } from 'zod';
import { ask, wasNotSent } from '../common/http.js';
import type { HttpAsk } from '../common/http.js';

const argsShape = z.object({ refund_id: z.string().min(1) });
const effectsShape = z.object({
  effects: z.array(z.object({ kind: z.string(), key: z.string(), refund_id: z.string() })),
});

/** Tools against a provider. Units: `timeoutMs` is the longest a request may take. */
export function paymentTools(
  providerUrl: string,
  timeoutMs: number,
): { readonly reverseRefund: Tool; readonly getRefund: Tool } {
  /** Only a refusal of the provider, or a request that never left, proves that nothing happened. */
  async function askProvider(path: string, how: HttpAsk = {}): Promise<Json> {
    const { status, body } = await ask(`${providerUrl}${path}`, { ...how, timeoutMs }).catch((error: unknown) => {
      throw wasNotSent(error) ? new ToolRejected('NOT_SENT', 'the provider does not listen', { cause: error }) : error;
    });
    if (status >= 400 && status < 500)
      throw new ToolRejected(String(body['code']), String(body['message']), { cause: { status } });
    if (status >= 500) throw new Error(`the provider answered ${String(status)}`);
    return z.record(z.string(), z.json()).parse(body);
  }

  /** Whether the refund of a forward call is there: the provider's list of effects names the key of each. */
  async function findRefund(key: string): Promise<Json> {
    const { effects } = effectsShape.parse(await askProvider('/effects'));
    const made = effects.find((effect) => effect.kind === 'refund' && effect.key === key);
    return made === undefined
      ? notHappened()
      : happened(await askProvider(`/refunds/${encodeURIComponent(made.refund_id)}`), made.refund_id);
  }

  return {
    reverseRefund: (args, { idempotencyKey }) =>
      askProvider(`/refunds/${idOf(args)}/reverse`, { method: 'POST', headers: { 'idempotency-key': idempotencyKey } }),
    getRefund: (args, { phase, idempotencyKey }) =>
      phase === 'reconcile' && !argsShape.safeParse(args).success
        ? findRefund(idempotencyKey)
        : askProvider(`/refunds/${idOf(args)}`, { headers: { 'x-purpose': phase } }),
  };
}

function idOf(args: Json): string {
  const parsed = argsShape.safeParse(args);
  if (!parsed.success) throw new ToolRejected('ARGS_INVALID', 'refund_id is needed');
  return encodeURIComponent(parsed.data.refund_id);
}
