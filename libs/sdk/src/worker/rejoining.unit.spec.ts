// A worker whose consumer dies: it joins again with one other, and with none once it is stopped.
import { describe, expect, it } from '@jest/globals';
import type { InputConsumer, InputHandlers, Kafka } from '@recourse/kafka';
import { legOf } from './legs.testing.js';
import { outcomes, turns, WorkerStage } from './worker.testing.js';

/** A consumer that was made, and what became of it. */
interface Made {
  readonly handlers: InputHandlers;
  isRunning: boolean;
}

/** What a join does once it was asked for. */
type Joining = (handlers: InputHandlers, nth: number) => Promise<void>;

class Joins {
  readonly stage = new WorkerStage();
  readonly made: Made[] = [];

  constructor(private readonly onJoin: Joining = () => Promise.resolve()) {
    const clusterOf = this.stage.clusterOf.bind(this.stage);
    this.stage.clusterOf = (name) => this.watching(clusterOf(name));
  }

  get running(): number {
    return this.made.filter(({ isRunning }) => isRunning).length;
  }

  crash(nth: number): void {
    this.made[nth]?.handlers.onCrash(new Error('the session has expired'));
  }

  /** Long enough for each try to join. */
  async pass(): Promise<void> {
    for (let pause = 0; pause < 4; pause += 1) {
      await turns();
      await this.stage.clock.advance(500);
    }
    await turns();
  }

  private watching(kafka: Kafka): Kafka {
    const inputConsumer: Kafka['inputConsumer'] = (options) => this.watched(kafka.inputConsumer(options));
    return new Proxy(kafka, {
      get: (of, name: keyof Kafka) => (name === 'inputConsumer' ? inputConsumer : bound(of, name)),
    });
  }

  private watched(consumer: InputConsumer): InputConsumer {
    const nth = this.made.length;
    const start = consumer.start.bind(consumer);
    const stop = consumer.stop.bind(consumer);
    consumer.start = async (handlers) => {
      const made = { handlers, isRunning: false };
      this.made[nth] = made;
      await this.onJoin(handlers, nth);
      await start(handlers);
      made.isRunning = true;
    };
    consumer.stop = async () => {
      const made = this.made[nth];
      if (made !== undefined) made.isRunning = false;
      await stop();
    };
    return consumer;
  }
}

function bound(of: Kafka, name: keyof Kafka): unknown {
  const member: unknown = of[name];
  return typeof member === 'function' ? (member.bind(of) as unknown) : member;
}

describe('a worker whose consumer died', () => {
  it('answers through another', async () => {
    const joins = new Joins();
    await joins.stage.start();
    joins.crash(0);
    await joins.pass();
    await joins.stage.ask(legOf());
    expect(outcomes(await joins.stage.reports(1))).toEqual([['verified']]);
    expect([joins.made.length, joins.running]).toEqual([2, 1]);
    await joins.stage.stop();
  });

  it('joins no more once it was stopped meanwhile: it would hold partitions that nobody answers', async () => {
    const joins = new Joins();
    const worker = await joins.stage.start();
    joins.crash(0);
    await turns();
    await worker.stop();
    await joins.pass();
    expect([joins.made.length, joins.running]).toEqual([1, 0]);
  });

  it('leaves again where it was stopped while it joined', async () => {
    const { promise: joined, resolve: join } = Promise.withResolvers<undefined>();
    const joins = new Joins((_, nth) => (nth === 1 ? joined : Promise.resolve()));
    const worker = await joins.stage.start();
    joins.crash(0);
    await joins.pass();
    await worker.stop();
    join(undefined);
    await joins.pass();
    expect([joins.made.length, joins.running]).toEqual([2, 0]);
  });

  it('joins with one consumer where a join dies while it is waited for', async () => {
    const joins = new Joins((handlers, nth) => {
      if (nth !== 1) return Promise.resolve();
      handlers.onCrash(new Error('the coordinator is gone'));
      return Promise.reject(new Error('the coordinator is gone'));
    });
    await joins.stage.start();
    joins.crash(0);
    await joins.pass();
    expect(joins.running).toBe(1);
    await joins.stage.ask(legOf());
    expect(outcomes(await joins.stage.reports(1))).toEqual([['verified']]);
    await joins.stage.stop();
  });

  it('is not left joining by a start that failed', async () => {
    const joins = new Joins((handlers, nth) => {
      if (nth > 0) return Promise.resolve();
      handlers.onCrash(new Error('the coordinator is gone'));
      return Promise.reject(new Error('the coordinator is gone'));
    });
    await expect(joins.stage.start()).rejects.toThrow('the coordinator is gone');
    await joins.pass();
    expect(joins.running).toBe(0);
  });
});
