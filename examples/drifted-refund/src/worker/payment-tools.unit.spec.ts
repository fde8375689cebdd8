// What the answers of a provider prove: of the 4xx only a refusal of what was asked.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolConflict, ToolRejected, verdictFor } from '@recourse/sdk';
import { paymentTools, refundTool } from './payment-tools.js';

let status = 200;
const provider = createServer((_, response) => {
  response.writeHead(status, { 'content-type': 'application/json' }).end('{"code":"SAID","message":"so"}');
});
beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
});
afterAll(() => {
  provider.close();
});
// A server that listens on TCP has such an address.
const url = (): string => `http://127.0.0.1:${String((provider.address() as AddressInfo).port)}`;

const LEG = {
  runId: 'r',
  tenant: 't',
  reason: 'r',
  attempt: 1,
  subjectRef: null,
  externalTransactionRef: null,
} as const;
const CALL = { ...LEG, callId: 'c', idempotencyKey: 'k', phase: 'execute', about: 'compensation' } as const;
const TOOLS = {
  'a refund': () => refundTool(url(), 1_000).execute({ order: '1' }, CALL),
  'its reversal': () => paymentTools(url(), 1_000).reverseRefund({ refund_id: 'rf_1' }, CALL),
} as const;
const errorOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => null,
    (error: unknown) => error,
  );

describe.each(['a refund', 'its reversal'] as const)('%s, where the provider answers', (name) => {
  it.each([400, 401, 403, 412, 422, 429])('%d, was not made', async (answered) => {
    status = answered;
    expect(await errorOf(TOOLS[name]())).toBeInstanceOf(ToolRejected);
  });

  it.each([404, 408, 409, 410, 423, 425, 500, 503])('%d, may have been made before', async (answered) => {
    status = answered;
    const error = await errorOf(TOOLS[name]());
    expect(error).not.toBeInstanceOf(ToolRejected);
    expect(verdictFor({ on: 'exception', error })).toMatchObject({ effect: 'unknown' });
  });

  it('412, has lost its condition to somebody else, which a person decides about', async () => {
    status = 412;
    expect(await errorOf(TOOLS[name]())).toBeInstanceOf(ToolConflict);
  });
});
