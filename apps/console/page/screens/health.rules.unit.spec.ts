// What is said of a service that answers, and is not as it should be.
import { expect, it } from '@jest/globals';
import { STATUS } from '../api/shapes.js';
import { troubleOf } from './health.rules.js';

const WAY = { code: 'DATABASE_UNAVAILABLE', detail: 'nobody answers' };

it.each([
  ['that is ready', { ready: true, detail: { loops: [] } }, null],
  ['that did not start', { ready: false, detail: { in_the_way: WAY } }, { says: 'is not ready', ...WAY }],
  [
    'that is not ready yet',
    { ready: false, detail: { in_the_way: null } },
    { says: 'is not ready', code: null, detail: null },
  ],
  [
    'that goes on in spite of something',
    { ready: true, detail: { in_the_way: { ...WAY, code: 'KEYRING_INVALID' } } },
    { says: 'is ready, and something is wrong', code: 'KEYRING_INVALID', detail: WAY.detail },
  ],
])('a service %s is told with what is in its way', (_which, status, told) => {
  expect(troubleOf(STATUS.parse(status))).toEqual(told);
});
