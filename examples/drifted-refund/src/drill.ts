// Drill kit of the adapter payments: the worker's own tools, and refunds of nobody's money as canaries.
//
//   PROVIDER_URL=… npx recourse drill payments --module examples/drifted-refund/dist/drill.js
import type { Json } from '@recourse/kernel';
import type { Canary, DrillKit } from '@recourse/sdk';
import { z } from 'zod';
import { CURRENCY, GET_REFUND, ISSUE_INSTANT_REFUND, ISSUE_REFUND, REVERSE_REFUND } from './common/contracts.js';
import { ask } from './common/http.js';
import { paymentTools, refundTool } from './worker/payment-tools.js';

const effectsShape = z.object({ effects: z.array(z.object({ key: z.string() })) });
/** The smallest refund there is. */
const CANARY_MINOR = 1;
const CALL_TIMEOUT_MS = 1_500;

/** The kit against a provider; the command line takes it from PROVIDER_URL. */
export default function drillKit(providerUrl: string | undefined = process.env['PROVIDER_URL']): DrillKit {
  if (providerUrl === undefined) throw new Error('PROVIDER_URL says where the provider is');
  const canary: Canary = {
    forward: refundTool(providerUrl, CALL_TIMEOUT_MS),
    args: (): Json => ({ order: `canary-${String(Date.now())}`, amount_minor: CANARY_MINOR, currency: CURRENCY }),
    effectsUnder: async (key) =>
      effectsShape.parse((await ask(`${providerUrl}/effects`)).body).effects.filter((effect) => effect.key === key)
        .length,
  };
  const { reverseRefund, getRefund } = paymentTools(providerUrl, 2 * CALL_TIMEOUT_MS);
  return {
    adapter: 'payments',
    tools: { [REVERSE_REFUND]: reverseRefund, [GET_REFUND]: getRefund },
    canaries: { [ISSUE_REFUND]: canary, [ISSUE_INSTANT_REFUND]: canary },
  };
}
