// What the answers of a service prove: of the 4xx only a refusal of what was asked.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolRejected } from '@recourse/sdk';
import { ServicesClient } from './client.js';
import { workerTools } from './tools.js';

let status = 200;
let url = '';
/** Where nobody listens any more. */
let gone = '';
const servers = [1, 2].map(() =>
  createServer((_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"code":"SAID","message":"so"}');
  }),
);
beforeAll(async () => {
  const [here, other] = await Promise.all(
    servers.map(async (server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      // A server that listens on TCP has such an address.
      return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    }),
  );
  [url, gone] = [here ?? '', other ?? ''];
  await new Promise((resolve) => servers[1]?.close(resolve));
});
afterAll(() => {
  servers[0]?.close();
});

async function looksFor(contact: string, to = url): Promise<unknown> {
  const look = workerTools(new ServicesClient(to), 'crm')['crm.get_contact'];
  const about = { runId: 'r', tenant: 't', callId: 'c', reason: 'r', attempt: 1, about: 'forward' } as const;
  return look?.(
    { contact, phone: '2' },
    { ...about, idempotencyKey: 'fwd_1', phase: 'reconcile', subjectRef: null, externalTransactionRef: null },
  );
}

it('a service that answers 409 may have done before what it is asked for', async () => {
  status = 409;
  const refund = new ServicesClient(url).operate('payments.refund', { charge_id: 'ch_1' }, { key: 'rev_1' });
  await expect(refund).rejects.not.toBeInstanceOf(ToolRejected);
});

describe('a look for a call whose end nobody knows', () => {
  it('says that it did not happen where the service says that nothing is there', async () => {
    status = 404;
    expect(await looksFor('c')).toEqual({ happened: false });
  });

  it('says nothing where the service lets nobody look, or does not listen', async () => {
    status = 403;
    await expect(looksFor('c')).rejects.toBeInstanceOf(ToolRejected);
    await expect(looksFor('c', gone)).rejects.toBeInstanceOf(ToolRejected);
  });
});
