// Who asks for metrics waits for a silent database no longer than its patience.
import { describe, expect, it } from '@jest/globals';
import { patiently } from './patiently.js';

describe('what is asked with patience', () => {
  it('is waited for no longer than that, and not begun again while it is under way', async () => {
    let begun = 0;
    const held = Promise.withResolvers<undefined>();
    const ask = patiently(() => {
      begun += 1;
      return held.promise;
    }, 0);
    await ask();
    await ask();
    expect(begun).toBe(1);
    held.resolve(undefined);
    await ask();
    await ask();
    expect(begun).toBeGreaterThan(1);
  });

  it('fails nobody who asks', async () => {
    await patiently(() => Promise.reject(new Error('away')))();
  });
});
