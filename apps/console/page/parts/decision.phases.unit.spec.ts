// A window stays open while its command is on the way.
import { expect, it } from '@jest/globals';
import { MAY_CLOSE, PHASES } from './decision.phases.js';

it('a window is not closed while it sends', () => {
  expect(PHASES.filter((phase) => !MAY_CLOSE[phase])).toEqual(['sending']);
});
