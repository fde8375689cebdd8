// Acknowledgements on their way to a broker that takes so much at once, as real ones do.
import { describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { ManualClock } from '@recourse/kernel';
import type { Speaker } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { RollbackAcknowledged } from '@recourse/messages';
import { AckOutbox, ACKS_TOPIC } from './ack-outbox.js';
import { MemoryInbox } from './inbox.memory.js';

/** What a wire takes in one round, bytes; as its `max.message.bytes`. */
const ROUND_MAX = 3 * 1024 * 1024;

describe('an outbox that owes more than a wire takes at once', () => {
  it('sends it in rounds, the oldest first, each once', async () => {
    const [broker, clock, inbox] = [new MemoryBroker(), new ManualClock(1_000), new MemoryInbox()];
    broker.ensureTopics([{ name: ACKS_TOPIC, partitions: 1 }]);
    const rounds: number[] = [];
    const actor = broker.forActor('mailer');
    const kafka: Kafka = Object.assign(Object.create(actor) as Kafka, {
      wireProducer: async () => {
        const wire = await actor.wireProducer();
        return {
          close: () => wire.close(),
          send: (topic: string, messages: Parameters<typeof wire.send>[1]) => {
            const bytes = messages.reduce((sum, { value }) => sum + value.length, 0);
            if (bytes > ROUND_MAX) return Promise.reject(new Error('MESSAGE_TOO_LARGE'));
            rounds.push(messages.length);
            return wire.send(topic, messages);
          },
        };
      },
    });
    const ids = Array.from({ length: 30 }, (_, index) => `ack-${String(index).padStart(2, '0')}`);
    await inbox.transact('apply', async (session) => {
      for (const event_id of ids)
        await session.owe({
          event_id,
          tenant: 'acme',
          run_id: 'run-1',
          mutation_id: event_id,
          rollback_id: 'rb',
          consumer: 'mailer',
          applied_at: 1,
          derived: Array.from({ length: 390 }, () => ({ run_id: 'own', commit_id: 'x'.repeat(500) })),
          emissions: [],
        });
    });
    const troubles: unknown[] = [];
    const outbox = new AckOutbox({
      kafka,
      codecs: createCodecs(new MemoryRegistry().forActor('mailer')),
      inbox,
      clock,
      registerSchemas: true,
      onTrouble: (cause) => {
        troubles.push(cause);
      },
    });
    await outbox.start();
    await outbox.flush();
    expect([rounds.reduce((sum, count) => sum + count, 0), rounds.length > 1, troubles]).toEqual([30, true, []]);
    expect(await inbox.transact('derive', (session) => session.owed(100))).toEqual([]);
    await outbox.stop();
  });
});

describe('an outbox', () => {
  const ackOf = (event_id: string, emitted_at = 1): RollbackAcknowledged => ({
    event_id,
    tenant: 'acme',
    run_id: 'run-1',
    mutation_id: event_id,
    rollback_id: 'rb',
    consumer: 'mailer',
    applied_at: 1,
    derived: [],
    emissions: [{ kind: 'email', ref: null, emitted_at }],
  });

  async function stage(acks: readonly RollbackAcknowledged[], speaker?: () => Speaker) {
    const [broker, clock, inbox] = [new MemoryBroker(), new ManualClock(1_000), new MemoryInbox()];
    broker.ensureTopics([{ name: ACKS_TOPIC, partitions: 1 }]);
    const sent: number[] = [];
    let isDown = false;
    const troubles: unknown[] = [];
    const actor = broker.forActor('mailer');
    const kafka: Kafka = Object.assign(Object.create(actor) as Kafka, {
      wireProducer: () =>
        Promise.resolve({
          ...(speaker === undefined ? {} : { speaker }),
          close: () => Promise.resolve(),
          send: (_topic: string, messages: readonly unknown[]) => {
            sent.push(messages.length);
            return isDown ? Promise.reject(new Error('no broker')) : Promise.resolve();
          },
        }),
    });
    const owe = (owed: readonly RollbackAcknowledged[]) =>
      inbox.transact('apply', async (session) => {
        for (const ack of owed) await session.owe(ack);
      });
    await owe(acks);
    const outbox = new AckOutbox({
      kafka,
      codecs: createCodecs(new MemoryRegistry().forActor('mailer')),
      inbox,
      clock,
      registerSchemas: true,
      onTrouble: (cause) => {
        troubles.push(cause);
        throw new Error('no log');
      },
    });
    const owed = async (): Promise<readonly string[]> =>
      (await inbox.transact('derive', (session) => session.owed(999))).map(({ event_id }) => event_id);
    return { outbox, clock, sent, troubles, owe, owed, fail: (is: boolean) => (isDown = is) };
  }

  it('leaves behind what no wire takes, tells it once, and sends the others: more than it looks at together', async () => {
    const bad = Array.from({ length: 120 }, (_, at) => ackOf(`bad-${String(at)}`, Number.MAX_VALUE));
    const { outbox, sent, troubles, owed } = await stage([...bad, ackOf('good-1'), ackOf('good-2')]);
    await outbox.start();
    await outbox.flush();
    await outbox.flush();
    expect([sent, troubles.length, (await owed()).length]).toEqual([[2], 120, 120]);
    await outbox.stop();
  });

  it('that could not send tries again once, however often it was asked meanwhile and whoever listens throws', async () => {
    const { outbox, clock, sent, owed, fail } = await stage([ackOf('one')]);
    fail(true);
    await outbox.start();
    for (let asked = 0; asked < 20; asked += 1) await outbox.flush();
    const before = sent.length;
    for (let turn = 0; turn < 10; turn += 1) await clock.advance(100);
    expect(sent.length - before).toBe(2);
    fail(false);
    for (let turn = 0; turn < 10; turn += 1) await clock.advance(100);
    expect(await owed()).toEqual([]);
    await outbox.stop();
  });

  it('keeps what nobody would believe of its key, says so once, holds up nothing else, and sends it once it would be', async () => {
    let tenants = ['acme'];
    const speaker = () => ({ keyId: 'mailer', roles: ['consumer'], names: ['mailer'], tenants }) as Speaker;
    const others = { ...ackOf('other'), tenant: 'beta' };
    const { outbox, clock, sent, troubles, owed } = await stage([others, ackOf('one')], speaker);
    await outbox.start();
    await outbox.flush();
    await outbox.flush();
    expect([sent, await owed(), troubles.length]).toEqual([[1], ['other'], 1]);
    expect(String((troubles[0] as Error).cause)).toContain('nobody would believe it');
    tenants = ['acme', 'beta'];
    for (let turn = 0; turn < 10; turn += 1) await clock.advance(1_000);
    expect([sent, await owed()]).toEqual([[1, 1], []]);
    await outbox.stop();
  });

  it('that was not started sends nothing, and keeps what is owed', async () => {
    const { outbox, owed } = await stage([ackOf('one')]);
    await outbox.flush();
    expect(await owed()).toEqual(['one']);
  });
});
