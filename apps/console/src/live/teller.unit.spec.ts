// What is written into a stream, and what is not.
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { NOWHERE } from './positions.js';
import { Teller } from './teller.js';

/** An answer that waits behind another of its connection. */
function waiting(): { readonly to: ServerResponse; readonly failed: unknown[] } {
  const to = new ServerResponse(new IncomingMessage(new Socket()));
  const failed: unknown[] = [];
  to.on('error', (error) => failed.push(error));
  return { to, failed };
}

describe('a stream whose answer waits behind another of its connection', () => {
  it('is written nothing more once it ended, however often that is said: its connection stays open', async () => {
    const { to, failed } = waiting();
    const teller = new Teller(to, NOWHERE);
    teller.end('sign-out');
    const written = to.writableLength;
    teller.end('sign-out');
    teller.tell({ ...NOWHERE, ledger: { 'recourse.mutations/0': 1 } });
    teller.beat();
    await new Promise((resolve) => setImmediate(resolve));
    expect([failed, to.writableLength, to.writableEnded]).toEqual([[], written, true]);
  });

  it('is written no more than a page may leave unread', () => {
    const { to } = waiting();
    const teller = new Teller(to, NOWHERE);
    for (let beats = 0; beats < 10_000; beats += 1) teller.beat();
    expect(to.destroyed).toBe(true);
    expect(to.writableLength).toBeLessThan(65 * 1_024);
  });
});
