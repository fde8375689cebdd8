import { describe, expect, it } from '@jest/globals';
import { complaintsOf } from './log-digest.js';

const line = (level: number, msg: string, second: number, more: object = {}): string =>
  JSON.stringify({ level, msg, time: `2026-01-01T10:00:0${String(second)}.000Z`, ...more });

describe('complaints in a log', () => {
  it('are warnings and worse, each once, with how often and when', () => {
    const log = [
      line(30, 'ready', 1),
      line(50, 'halted', 2),
      line(50, 'halted', 4),
      'no json',
      line(40, 'slow', 3),
    ].join('\n');
    expect(complaintsOf(log)).toEqual([
      { message: 'halted', first: '10:00:02', last: '10:00:04', times: 2 },
      { message: 'slow', first: '10:00:03', last: '10:00:03', times: 1 },
    ]);
  });

  it('name the error behind them, and leave out what the Kafka client says of broken connections', () => {
    const log = [
      line(50, 'stopped', 1, { err: { message: 'no head' } }),
      line(50, 'Connection error', 1, { kafka: {} }),
    ].join('\n');
    expect(complaintsOf(log).map(({ message }) => message)).toEqual(['stopped: no head']);
  });
});
