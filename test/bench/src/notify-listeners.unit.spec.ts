// What is judged of the consumers of the notify bench.
import { describe, expect, it } from '@jest/globals';
import { isEachOnceInOrder } from './notify-listeners.js';

const heard = (...what: readonly string[]) =>
  what.map((one) => ({
    what: one.startsWith('c') ? ('commit' as const) : ('rollback' as const),
    commitId: one.slice(1),
  }));

describe('the consumers of a bench', () => {
  it('heard each commit and then its rollback, whatever came between', () => {
    expect(isEachOnceInOrder(heard('ca', 'cb', 'rb', 'ra'), ['a', 'b'])).toBe(true);
  });

  it.each([
    ['a rollback before its commit', heard('ra', 'ca')],
    ['a commit twice', heard('ca', 'ca', 'ra')],
    ['a rollback twice', heard('ca', 'ra', 'ra')],
    ['no rollback', heard('ca')],
    ['another commit', heard('ca', 'rb')],
    ['more than there was', heard('ca', 'ra', 'cb', 'rb')],
  ])('did not hear right: %s', (_what, all) => {
    expect(isEachOnceInOrder(all, ['a'])).toBe(false);
  });
});
