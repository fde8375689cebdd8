import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderGate } from './provider-gate.js';

describe('the gate before a provider', () => {
  let gate: ProviderGate;
  let provider: Server;
  let taken: string[];

  beforeEach(async () => {
    taken = [];
    provider = createServer((request, response) => {
      taken.push(`${String(request.method)} ${String(request.url)}`);
      response.setHeader('content-type', 'application/json').end('{"status":"settled"}');
    });
    await new Promise<void>((resolve) => {
      provider.listen(0, '127.0.0.1', resolve);
    });
    gate = await ProviderGate.open();
    const bound = provider.address();
    gate.leadTo(`http://127.0.0.1:${String(typeof bound === 'object' ? bound?.port : 0)}`);
  });

  afterEach(async () => {
    await gate.close();
    provider.closeAllConnections();
    provider.close();
  });

  const look = (signal?: AbortSignal): Promise<unknown> =>
    fetch(`${gate.url}/refunds/rf_1`, {
      headers: { 'x-purpose': 'stale_check' },
      ...(signal === undefined ? {} : { signal }),
    }).then((response) => response.json());

  it('passes on what is asked about others', async () => {
    gate.watch('rf_2', { call: 'stale check', side: 'before' });
    expect(await look()).toEqual({ status: 'settled' });
    expect(gate.firstSeenAt('rf_2')).toBeNull();
  });

  it('takes a look of no leg for none of its calls', async () => {
    gate.watch('rf_1', { call: 'stale check', side: 'before' });
    await fetch(`${gate.url}/refunds/rf_1`, { headers: { 'x-purpose': 'verify' } });
    await gate.looked('rf_1');
    expect([gate.firstSeenAt('rf_1'), gate.isHolding('rf_1')]).toEqual([null, false]);
  });

  it('holds a call before the provider sees it', async () => {
    gate.watch('rf_1', { call: 'stale check', side: 'before' });
    const answer = look();
    await gate.reached('rf_1');
    expect([taken, gate.isHolding('rf_1')]).toEqual([[], true]);
    gate.letGo('rf_1');
    expect(await answer).toEqual({ status: 'settled' });
  });

  it('holds an answer after the provider gave it', async () => {
    gate.watch('rf_1', { call: 'stale check', side: 'after' });
    const answer = look();
    await gate.reached('rf_1');
    expect(taken).toEqual(['GET /refunds/rf_1']);
    gate.letGo('rf_1');
    expect(await answer).toEqual({ status: 'settled' });
  });

  it('tells the look before a reversal from the one after it', async () => {
    gate.watch('rf_1', { call: 'verify', side: 'before' });
    await look();
    await fetch(`${gate.url}/refunds/rf_1/reverse`, { method: 'POST', headers: { 'idempotency-key': 'k' } });
    const answer = look();
    await gate.reached('rf_1');
    expect(taken).toEqual(['GET /refunds/rf_1', 'POST /refunds/rf_1/reverse']);
    gate.letGo('rf_1');
    await answer;
  });

  it('lets a call arrive whose caller has gone, and does not take it for held', async () => {
    gate.watch('rf_1', { call: 'stale check', side: 'before' });
    const caller = new AbortController();
    const answer = look(caller.signal).catch(() => 'gone');
    await gate.reached('rf_1');
    caller.abort();
    expect(await answer).toBe('gone');
    await until(() => !gate.isHolding('rf_1'));
    expect(gate.isHolding('rf_1')).toBe(false);
    gate.letGo('rf_1');
    await until(() => taken.length > 0);
    expect(taken).toEqual(['GET /refunds/rf_1']);
  });
});

/** Waits a little for what other processes' sockets tell. */
async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 400 && !isSo(); turn += 1)
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
}
