import { afterEach, expect, it, jest } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import { RollbackHandlerFailed } from './own-record.js';
import { warningOf } from './warning.js';

const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
afterEach(() => {
  emitted.mockClear();
});

it('what fails in a consumer that nobody listens to is a warning of the process, the same once a minute', async () => {
  const clock = new ManualClock(0);
  const warn = warningOf('consumer reports', clock);
  const failed = new RollbackHandlerFailed(
    'onRollback',
    { run_id: 'g-0', commit_id: 'mut_1' },
    new Error('no such row'),
  );
  for (let tries = 0; tries < 3; tries += 1) warn(failed);
  const text = 'consumer reports: RollbackHandlerFailed: onRollback of commit mut_1 in run g-0 failed: no such row';
  expect(emitted.mock.calls).toEqual([[text, { type: 'RecourseWarning', code: 'CONSUMER_TROUBLE' }]]);
  for (let tries = 0; tries < 3; tries += 1) {
    warn('the broker is away');
    warn(failed);
  }
  expect(emitted).toHaveBeenCalledTimes(2);
  await clock.advance(60_000);
  warn(failed);
  expect(emitted).toHaveBeenCalledTimes(3);
});

it('a hundred different warnings are remembered, and no more', async () => {
  const clock = new ManualClock(0);
  const warn = warningOf('detector', clock);
  const all = Array.from({ length: 100 }, (_, index) => `source ${String(index)}`);
  for (let round = 0; round < 2; round += 1) all.forEach(warn);
  expect(emitted).toHaveBeenCalledTimes(100);
  warn('one more');
  warn('source 99');
  expect(emitted).toHaveBeenCalledTimes(101);
  warn('source 0');
  expect(emitted).toHaveBeenCalledTimes(102);
  await clock.advance(60_000);
  all.forEach(warn);
  expect(emitted).toHaveBeenCalledTimes(202);
});
