import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { systemClock } from '@recourse/kernel';
import { toolContract } from './tool.contract.js';
import { MEMORY_CONTRACTS, MemoryTools } from '../worker/tool.memory.js';
import type { Tool } from '../tool/tool.js';

const servers: Server[] = [];
afterAll(() => {
  servers.forEach((server) => {
    server.close();
  });
});

toolContract('memory', () => {
  const provider = new MemoryTools();
  const canary = {
    forward: provider.forward,
    args: () => ({ name: 'canary' }),
    effectsUnder: (key: string) => provider.effectsUnder(key),
  };
  return Promise.resolve({
    kit: { adapter: 'memory', tools: provider.tools, canaries: { 'memory.make_thing': canary } },
    contracts: MEMORY_CONTRACTS,
    clock: systemClock,
  });
});

/** The same provider in another process's place: every call goes over HTTP, as a worker's tools do. */
toolContract('http', async () => {
  const provider = new MemoryTools();
  const server = createServer((request, response) => {
    let text = '';
    request
      .on('data', (chunk: Buffer) => {
        text += chunk.toString();
      })
      .on('end', () => {
        const { capability, args, context } = JSON.parse(text) as {
          readonly capability: string;
          readonly args: Json;
          readonly context: Parameters<Tool>[1];
        };
        const asked =
          capability === 'memory.make_thing'
            ? provider.forward.execute(args, { ...context, stagedRef: null })
            : provider.tools[capability]?.(args, context);
        void Promise.resolve(asked).then((value) => {
          response.end(JSON.stringify(value));
        });
      });
  });
  servers.push(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`; // it listens on a port
  const over =
    (capability: string) =>
    async (args: Json, context: object): Promise<Json> =>
      (await (
        await fetch(url, { method: 'POST', body: JSON.stringify({ capability, args, context }) })
      ).json()) as Json; // the provider answers JSON
  const canary = {
    forward: {
      execute: over('memory.make_thing'),
      externalTransactionRef: (result: Json) => provider.forward.externalTransactionRef?.(result) ?? null,
    },
    args: () => ({ name: 'canary' }),
    effectsUnder: (key: string) => provider.effectsUnder(key),
  };
  return {
    kit: {
      adapter: 'memory',
      tools: { 'memory.undo_thing': over('memory.undo_thing'), 'memory.get_thing': over('memory.get_thing') },
      canaries: { 'memory.make_thing': canary },
    },
    contracts: MEMORY_CONTRACTS,
    clock: systemClock,
  };
});
