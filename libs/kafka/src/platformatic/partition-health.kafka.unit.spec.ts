// What is told of a partition, and when.
import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { PartitionHealth } from './partition-health.kafka.js';

function watched(): { readonly health: PartitionHealth; readonly told: string[] } {
  const told: string[] = [];
  const health = new PartitionHealth(
    { topic: 'wire', partition: 0 },
    { silentMs: 3_000, heldMs: 30_000 },
    (_at, cause) => told.push(cause?.code ?? 'goes on'),
  );
  return { health, told };
}
const failing = (code: Failure['code']): Failure => new Failure(code, 'the broker says so');

describe('a partition that is followed', () => {
  it.each(['BROKER_UNAVAILABLE', 'TOPIC_MISSING'] as const)(
    'is told of once it has had no answer for long: %s',
    (code) => {
      const { health, told } = watched();
      const rests = [0, 100, 300, 700, 1_500, 3_100].map((at) => health.unanswered(failing(code), at, at + 1));
      expect([rests, told]).toEqual([[100, 200, 400, 800, 1_000, 1_000], [code]]);
      expect([health.answered(null, 3_200), told.at(-1)]).toEqual([0, 'goes on']);
    },
  );

  it('is told of no more than once by the wait for its answer and by what that ends with, each time', () => {
    const { health, told } = watched();
    health.silent(3_500);
    health.unanswered(failing('BROKER_UNAVAILABLE'), 0, 10_000);
    expect(told).toEqual(['BROKER_UNAVAILABLE', 'BROKER_UNAVAILABLE']);
  });

  it.each(['FETCH_BROKEN', 'BROKER_REFUSED'] as const)('is told of at once where that will not pass: %s', (code) => {
    const { health, told } = watched();
    expect([health.unanswered(failing(code), 0, 1), told]).toEqual([1_000, [code]]);
  });

  it('is not told of where it has an answer now and then', () => {
    const { health, told } = watched();
    for (let at = 0; at < 30_000; at += 2_000) {
      health.unanswered(failing('BROKER_UNAVAILABLE'), at, at + 1);
      health.answered(null, at + 1_000);
    }
    expect(told).toEqual([]);
  });

  it('is told of once a transaction has held it for long, wherever in it the owner stands', () => {
    const { health, told } = watched();
    const rests = [0, 10_000, 29_999, 30_000].map((now) => health.answered(5, now));
    expect([rests, told]).toEqual([[0, 0, 0, 1_000], ['TRANSACTION_OPEN']]);
    expect([health.answered(3, 31_000), health.answered(null, 32_000)]).toEqual([1_000, 0]);
    expect(told).toEqual(['TRANSACTION_OPEN', 'TRANSACTION_OPEN', 'goes on']);
  });
});
