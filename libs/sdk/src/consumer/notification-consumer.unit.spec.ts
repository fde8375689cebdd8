import { afterEach, describe, expect, it } from '@jest/globals';
import { FRAME_SIZE, genesisHead, leafHash } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { ManualClock } from '@recourse/kernel';
import { createCodecs, settledIn } from '@recourse/messages';
import { MemoryPositionStore } from '../stores/position-store.memory.js';
import type { PositionStore } from '../stores/position-store.port.js';
import { createNotificationConsumer, NOTIFICATIONS_TOPIC } from './notification-consumer.js';
import type { Notification, NotificationConsumer } from './notification-consumer.js';

const LOG_ID = 'spec';
const SETTLED = {
  rollback_id: 'rb_1',
  subject_ref: null,
  recoverability: 'compensated',
  reason: null,
  derived_from: [],
};

class Stage {
  readonly clock = new ManualClock();
  readonly broker = new MemoryBroker();
  readonly registry = new MemoryRegistry();
  positions: PositionStore = new MemoryPositionStore();
  readonly heard: Notification[] = [];
  readonly troubles: unknown[] = [];
  handle: (notification: Notification) => Promise<void> = (notification) => {
    this.heard.push(notification);
    return Promise.resolve();
  };
  private head: Head = genesisHead({ logId: LOG_ID, topic: NOTIFICATIONS_TOPIC, partition: 0, partitionCount: 1 });
  private consumers: NotificationConsumer[] = [];

  constructor() {
    this.broker.ensureTopics([{ name: NOTIFICATIONS_TOPIC, partitions: 1 }]);
  }

  async start(): Promise<NotificationConsumer> {
    const consumer = createNotificationConsumer({
      kafka: this.broker.forActor('consumer'),
      codecs: createCodecs(this.registry.forActor('consumer')),
      logId: LOG_ID,
      partitionCount: 1,
      positions: this.positions,
      clock: this.clock,
      onNotification: (notification) => this.handle(notification),
      onTrouble: (_partition, cause) => {
        this.troubles.push(cause);
      },
      pollMs: 1,
    });
    this.consumers.push(consumer);
    await consumer.start();
    return consumer;
  }

  /** Appends a settlement of one commit; a void one does not follow the head, and may claim to be far ahead of it. */
  async append(mutationId: string | null, isVoid = false, ahead = 0): Promise<void> {
    const codecs = createCodecs(this.registry.forActor('ledger'));
    await codecs.prepareWriter(NOTIFICATIONS_TOPIC, { register: true });
    const value = codecs.encode(NOTIFICATIONS_TOPIC, 'RollbackSettled', {
      seq: this.head.seq + 1 + ahead,
      prev_hash: isVoid ? Buffer.alloc(32, 9) : this.head.hash,
      source_seq: 1,
      source_index: 0,
      tenant: 'acme',
      run_id: 'run-1',
      members: mutationId === null ? [] : [{ ...SETTLED, mutation_id: mutationId }],
    });
    const key = Buffer.from('run-1');
    const producer = await this.broker.forActor('ledger').logProducer();
    await producer.send(NOTIFICATIONS_TOPIC, 0, [{ key, value }]);
    const fingerprint = codecs.fingerprintOf(value.readInt32BE(1)) ?? Buffer.alloc(32);
    if (!isVoid) this.head = { seq: this.head.seq + 1, hash: leafHash(fingerprint, key, value.subarray(FRAME_SIZE)) };
  }

  async waitFor(count: number): Promise<readonly string[]> {
    for (let turn = 0; turn < 2_000 && this.heard.length < count; turn += 1) await this.clock.advance(1);
    return this.heard.flatMap((one) =>
      one.type === 'RollbackSettled' ? settledIn(one.body).map(({ mutation_id }) => mutation_id) : [],
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.consumers.map((consumer) => consumer.stop()));
  }
}

let stage = new Stage();
afterEach(async () => {
  await stage.stop();
  stage = new Stage();
});

describe('a notification consumer', () => {
  it('hears accepted records in order and never a void one', async () => {
    await stage.append('mut_1');
    await stage.append('mut_forged', true);
    await stage.append('mut_2');
    await stage.start();
    expect(await stage.waitFor(2)).toEqual(['mut_1', 'mut_2']);
    await stage.append('mut_3');
    expect(await stage.waitFor(3)).toEqual(['mut_1', 'mut_2', 'mut_3']);
    expect(stage.heard.map(({ partition, seq }) => [partition, seq])).toEqual([
      [0, 1],
      [0, 2],
      [0, 3],
    ]);
  });

  it('goes on after a restart where its handler had ended', async () => {
    await stage.append('mut_1');
    const first = await stage.start();
    await stage.waitFor(1);
    await stage.clock.advance(1);
    await first.stop();
    await stage.append('mut_2');
    await stage.start();
    expect(await stage.waitFor(2)).toEqual(['mut_1', 'mut_2']);
  });

  it('goes on past void records where its store keeps no more than the head and the next offset', async () => {
    const kept = new MemoryPositionStore();
    stage.positions = {
      load: (...asked) => kept.load(...asked),
      save: (topic, partition, { offset, seq, hash }) => kept.save(topic, partition, { offset, seq, hash }),
    };
    await stage.append('mut_1');
    await stage.append('mut_forged', true);
    const first = await stage.start();
    await stage.waitFor(1);
    for (let turn = 0; turn < 20; turn += 1) await stage.clock.advance(1);
    await first.stop();
    await stage.append('mut_forged', true, 7);
    await stage.append('mut_2');
    await stage.start();
    expect([await stage.waitFor(2), stage.troubles]).toEqual([['mut_1', 'mut_2'], []]);
  });

  it('offers a record again after its handler failed, and nothing past it meanwhile', async () => {
    let failures = 0;
    const { handle } = stage;
    stage.handle = (notification) => {
      if (failures < 2) {
        failures += 1;
        return Promise.reject(new Error('no disk'));
      }
      return handle(notification);
    };
    await stage.append('mut_1');
    await stage.append('mut_2');
    await stage.start();
    expect(await stage.waitFor(2)).toEqual(['mut_1', 'mut_2']);
    expect(failures).toBe(2);
  });

  it('stops at an unknown schema until it is known', async () => {
    await stage.append('mut_1');
    stage.registry.available = false;
    await stage.start();
    for (let turn = 0; turn < 20; turn += 1) await stage.clock.advance(1);
    expect(stage.heard).toEqual([]);
    stage.registry.available = true;
    expect(await stage.waitFor(1)).toEqual(['mut_1']);
  });

  it('stops at a notice that names nobody, and tells it', async () => {
    await stage.append('mut_1');
    await stage.append(null);
    await stage.append('mut_2');
    await stage.start();
    await stage.waitFor(1);
    for (let turn = 0; turn < 1_000; turn += 1) await stage.clock.advance(1);
    expect(await stage.waitFor(1)).toEqual(['mut_1']);
    expect(stage.troubles.map(String)).toContain(
      'InvariantViolation: notifications: the RollbackSettled at 1 names nobody',
    );
  });

  it('that finds everything void says so, once: it reads the log of another installation', async () => {
    for (const id of ['mut_1', 'mut_2']) await stage.append(id, true);
    await stage.start();
    for (let turn = 0; turn < 1_000; turn += 1) await stage.clock.advance(1);
    expect(stage.troubles.map(String)).toEqual([
      expect.stringMatching(/^Failure: CHAIN_BROKEN: all 2 records of .* are void: is the log id/),
    ]);
    await stage.append('mut_3');
    expect(await stage.waitFor(1)).toEqual(['mut_3']);
  });

  it('does not start on a topic with another number of partitions', async () => {
    const other = createNotificationConsumer({
      kafka: stage.broker.forActor('x'),
      codecs: createCodecs(stage.registry.forActor('x')),
      logId: LOG_ID,
      partitionCount: 6,
      positions: stage.positions,
      clock: stage.clock,
      onNotification: () => Promise.resolve(),
    });
    await expect(other.start()).rejects.toMatchObject({ code: 'PARTITION_COUNT_CHANGED' });
  });
});
