import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { onceCounted } from './few-brokers.kafka.js';

describe('topics for which Kafka counts too few brokers', () => {
  const refusal = (type: string): Failure =>
    new Failure('BROKER_UNAVAILABLE', 'create topics', {
      cause: { errors: [{ type: 'TOPIC_ALREADY_EXISTS' }, { type }] },
    });
  const tried = async (types: readonly string[]) => {
    let [calls, slept] = [0, 0];
    const clock = {
      sleep: (ms: number) => {
        slept += ms;
        return Promise.resolve();
      },
    };
    const made = await onceCounted(clock, () => {
      const type = types[calls] ?? types.at(-1);
      calls += 1;
      return type === 'made' ? Promise.resolve('made') : Promise.reject(refusal(String(type)));
    }).catch((error: unknown) => error);
    return { made, calls, slept };
  };

  it('are made once the one that was busy is counted again', async () => {
    const few = 'INVALID_REPLICATION_FACTOR';
    expect(await tried([few, few, 'made'])).toEqual({ made: 'made', calls: 3, slept: 500 });
  });

  it('are refused after five seconds, and at once for any other reason', async () => {
    expect(await tried(['INVALID_REPLICATION_FACTOR'])).toMatchObject({
      made: { code: 'BROKER_UNAVAILABLE' },
      calls: 20,
      slept: 4_750,
    });
    expect(await tried(['INVALID_TOPIC_EXCEPTION'])).toMatchObject({ calls: 1, slept: 0 });
  });
});
