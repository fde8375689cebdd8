// Nothing is sent of what is another by then.
import { describe, expect, it } from '@jest/globals';
import { heldTo } from './held.rules.js';

const SAID = { reason: 'why', fields: {}, key: 'k' };

/** What is sent where `now` is what is read before. */
async function sentWhere(now: string | undefined): Promise<readonly string[]> {
  const log: string[] = [];
  const read = (): Promise<string | undefined> => {
    log.push('read');
    return Promise.resolve(now);
  };
  const send = heldTo('seen', { read, isSame: (seen, other) => seen === other }, ({ reason }) => {
    log.push(reason);
    return Promise.resolve('done');
  });
  const outcome = await send(SAID).catch((cause: unknown) => (cause as { readonly code: string }).code);
  return [...log, outcome as string];
}

describe('a window', () => {
  it('sends what is still as it was read, and reads it again before', async () => {
    expect(await sentWhere('seen')).toEqual(['read', 'why', 'done']);
  });

  it.each(['another', undefined])('sends nothing, and says so, where what was read is now %s', async (now) => {
    expect(await sentWhere(now)).toEqual(['read', 'CHANGED_MEANWHILE']);
  });
});
