// A worker of a connection: what it takes from the connection, and what its contract says.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { Json } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { MemoryEntries } from '../entries/entries.memory.js';
import { MemoryClaimStore } from '../stores/claim-store.memory.js';
import type { Claim } from '../stores/claim-store.port.js';
import { legOf, legStep } from '../worker/legs.testing.js';
import { outcomes, turns, WorkerStage } from '../worker/worker.testing.js';
import { connect } from './connect.js';
import type { ConnectedWorkerOptions, ConnectOptions } from './connect.messages.js';
import { TestStack } from './connect.testing.js';

let stack: TestStack;
let stage: WorkerStage;
beforeEach(async () => {
  stack = await TestStack.start();
  stack.leaveFile();
  stage = new WorkerStage();
});
afterEach(() => {
  stack.stop();
});

/** A worker of a connection, at the wires of the stage. */
async function working(options: Partial<ConnectOptions> = {}, more: Partial<ConnectedWorkerOptions> = {}) {
  const recourse = await connect(
    stack.options({
      kafka: stage.broker.forActor('worker'),
      codecs: createCodecs(stage.registry.forActor('worker')),
      clock: stage.clock,
      entries: new MemoryEntries(),
      ...options,
    }),
  );
  await recourse.worker({
    adapter: 'payments',
    capabilities: stage.provider.tools,
    positions: stage.positions,
    registerSchemas: true,
    ...more,
  });
  return recourse;
}

describe('a worker from a connection', () => {
  it('claims where the connection does, so that workers of several hosts share what they took', async () => {
    const [claims, asked] = [new MemoryClaimStore(), [] as string[]];
    const shared = {
      claim: (claim: Claim) => {
        asked.push(claim.id);
        return claims.claim(claim);
      },
    };
    const recourse = await working({ claims: shared });
    await stage.ask(legOf());
    expect(outcomes(await stage.reports(1))).toEqual([['verified']]);
    expect(asked).toEqual(['leg_1']);
    await recourse.close();
  });

  it('waits for a call as long as its contract says, however long that is', async () => {
    const { promise: isCalled, resolve: called } = Promise.withResolvers<null>();
    const { promise: reversed, resolve: answers } = Promise.withResolvers<Json>();
    const recourse = await working(
      { claims: new MemoryClaimStore() },
      {
        capabilities: {
          ...stage.provider.tools,
          'payments.reverse_refund': async () => {
            called(null);
            const answer = await reversed;
            stage.provider.status = 'reversed';
            return answer;
          },
        },
      },
    );
    await stage.ask(legOf({ not_after: 90_000, steps: [legStep({ call_timeout_ms: 30_000 })] }));
    await isCalled;
    await turns();
    await stage.clock.advance(29_000);
    await turns();
    answers({ status: 'reversed' });
    expect(outcomes(await stage.reports(1)).at(-1)).toEqual(['verified']);
    await recourse.close();
  });

  it('has what the connection has where an option of it is undefined', async () => {
    const [claims, asked] = [new MemoryClaimStore(), [] as string[]];
    const shared = {
      claim: (claim: Claim) => {
        asked.push(claim.id);
        return claims.claim(claim);
      },
    };
    // As a caller without exact types passes it.
    const unsaid = { claimStore: undefined, clock: undefined } as unknown as Partial<ConnectedWorkerOptions>;
    const recourse = await working({ claims: shared }, unsaid);
    await stage.ask(legOf());
    await stage.reports(1);
    expect(asked).toEqual(['leg_1']);
    await recourse.close();
  });

  it('is stopped where the connection was closed while it began, and nobody is given it', async () => {
    const { promise: isClosed, resolve: closed } = Promise.withResolvers<undefined>();
    const { promise: begins, resolve: begun } = Promise.withResolvers<undefined>();
    const codecs = createCodecs(stage.registry.forActor('worker'));
    const prepareWriter = codecs.prepareWriter.bind(codecs);
    codecs.prepareWriter = async (...given) => {
      begun(undefined);
      await isClosed;
      await prepareWriter(...given);
    };
    const recourse = await connect(
      stack.options({
        kafka: stage.broker.forActor('worker'),
        codecs,
        clock: stage.clock,
        claims: new MemoryClaimStore(),
      }),
    );
    const worker = recourse.worker({
      adapter: 'payments',
      capabilities: stage.provider.tools,
      positions: stage.positions,
      registerSchemas: true,
    });
    await begins;
    await recourse.close();
    closed(undefined);
    await expect(worker).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
    await stage.ask(legOf());
    await turns();
    expect(stage.provider.calls).toEqual([]);
  });
});
