// Nothing is sent of what is another by then.
import { describe, expect, it } from '@jest/globals';
import type { ApiProblem } from '../api/problem.js';
import { stillAs } from './held.rules.js';
import { sent } from './sending.rules.js';

const SAID = { reason: 'why', fields: {}, key: 'k' };

/** What is sent where `now` is what is read before; of one that is lost nobody knows whether it arrived. */
async function sentWhere(
  now: string | undefined,
  { isLost = false, isChanged = false } = {},
): Promise<readonly string[]> {
  const log: string[] = [];
  const read = (): Promise<string | undefined> => {
    log.push('read');
    return Promise.resolve(now);
  };
  const outcome = await sent(SAID, {
    isLost,
    isChanged,
    still: stillAs('seen', { read, isSame: (seen, other) => seen === other }),
    send: ({ reason, key }) => {
      log.push(`${reason} under ${key}`);
      return Promise.resolve('done');
    },
    settle: (taken) => Promise.resolve(taken),
    onLost: () => log.push('lost'),
    onTaken: () => log.push('taken'),
    forget: () => undefined,
    write: () => undefined,
  }).catch((cause: unknown) => (cause as ApiProblem).code);
  return [...log, outcome as string];
}

describe('a window', () => {
  it('sends what is still as it was read, and reads it again before', async () => {
    expect(await sentWhere('seen')).toEqual(['read', 'why under k', 'done']);
  });

  it.each(['another', undefined])('sends nothing, and says so, where what was read is now %s', async (now) => {
    expect(await sentWhere(now)).toEqual(['read', 'CHANGED_MEANWHILE']);
  });

  it('sends nothing, and reads nothing, of what is known to be another', async () => {
    expect(await sentWhere('seen', { isChanged: true })).toEqual(['CHANGED_MEANWHILE']);
  });

  it('repeats a command that may have arrived, under its key: it may be what changed the thing', async () => {
    for (const isChanged of [true, false])
      expect(await sentWhere('another', { isLost: true, isChanged })).toEqual(['why under k', 'done']);
  });
});
