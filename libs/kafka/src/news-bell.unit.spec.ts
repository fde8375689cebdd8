import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import type { Kafka, RawReader, ReadManyOptions, ReadPosition } from './kafka.port.js';
import { MemoryBroker } from './memory/broker.memory.js';
import { NewsBell } from './news-bell.js';

const WAIT_MS = 1_000;
const AT = (offset: number): ReadPosition => ({ topic: 'spec.log', partition: 0, offset });

/** A broker that holds each question until it is told of news. */
class Broker {
  readonly asked: { readonly positions: readonly ReadPosition[]; readonly options: ReadManyOptions | undefined }[] = [];
  tell: () => void = () => undefined;
  refuse: (cause: Error) => void = () => undefined;

  readonly kafka: Pick<Kafka, 'rawReader'> = {
    rawReader: async (): Promise<RawReader> => ({
      ...(await new MemoryBroker().forActor('listener').rawReader()),
      readMany: (positions, options) => {
        this.asked.push({ positions, options });
        return new Promise((resolve, reject) => {
          this.tell = () => {
            resolve([]);
          };
          this.refuse = reject;
        });
      },
    }),
  };
}

const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 5);
  });

describe('a bell for news', () => {
  it('asks once for all who listen, and is heard by all of them when there is an answer', async () => {
    const broker = new Broker();
    const bell = new NewsBell({ kafka: broker.kafka, positions: () => [AT(3)], waitMs: WAIT_MS });
    let heard = 0;
    const listeners = [bell.heard(), bell.heard()].map(async (listening) => {
      await listening;
      heard += 1;
    });
    await turn();
    expect([heard, broker.asked]).toEqual([0, [{ positions: [AT(3)], options: { waitMs: WAIT_MS, maxBytes: 1 } }]]);
    broker.tell();
    await Promise.all(listeners);
    expect(heard).toBe(2);
  });

  it('asks anew from where its readers are by then', async () => {
    const broker = new Broker();
    let offset = 3;
    const bell = new NewsBell({ kafka: broker.kafka, positions: () => [AT(offset)], waitMs: WAIT_MS });
    for (const next of [4, 5]) {
      const listening = bell.heard();
      await turn();
      offset = next;
      broker.tell();
      await listening;
    }
    expect(broker.asked.map(({ positions }) => positions[0]?.offset)).toEqual([3, 4]);
  });

  it('is heard at once where the broker refuses: its readers meet the trouble themselves', async () => {
    const away = { rawReader: () => Promise.reject(new Failure('BROKER_UNAVAILABLE', 'away')) };
    await new NewsBell({ kafka: away, positions: () => [AT(0)], waitMs: WAIT_MS }).heard();
    const broker = new Broker();
    const bell = new NewsBell({ kafka: broker.kafka, positions: () => [AT(7)], waitMs: WAIT_MS });
    const listening = bell.heard();
    await turn();
    broker.refuse(new Failure('CURSOR_OUT_OF_RANGE', 'the log ends before'));
    await listening;
    expect(broker.asked).toHaveLength(1);
  });
});
