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
  warn('the broker is away');
  warn(failed);
  expect(emitted).toHaveBeenCalledTimes(3);
  await clock.advance(60_000);
  warn(failed);
  expect(emitted).toHaveBeenCalledTimes(4);
});
