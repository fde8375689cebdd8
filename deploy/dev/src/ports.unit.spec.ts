import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { choosePorts } from './ports.js';

describe('free ports', () => {
  it('differ from each other', async () => {
    const { a, b, c } = await choosePorts(['a', 'b', 'c']);
    expect(new Set([a, b, c]).size).toBe(3);
  });

  it('are the preferred ones while nobody else has them', async () => {
    const { a } = await choosePorts(['a']);
    expect(await choosePorts(['a'], { a })).toEqual({ a });
  });

  it('are others when a preferred one is taken', async () => {
    const server = createServer();
    const taken = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
    const { a } = await choosePorts(['a'], { a: taken });
    server.close();
    expect(a).not.toBe(taken);
  });
});
