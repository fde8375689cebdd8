// What a page does once its session is over.
import { describe, expect, it } from '@jest/globals';
import { DOING, endedBy, endOf } from './ends.js';
import type { End, Ways, Who } from './ends.js';

const settle = (): Promise<void> => new Promise(setImmediate);

/** A page, and what it did. */
function page(answers: readonly Who[], more: Partial<Ways> = {}) {
  const did: string[] = [];
  const left = [...answers];
  const does = (name: string) => (): Promise<void> => {
    did.push(name);
    return Promise.resolve();
  };
  const ways: Ways = {
    free: () => Promise.resolve(),
    seen: () => Promise.resolve(),
    alone: (act) => act(),
    who: () => Promise.resolve(left.shift() ?? 'nobody'),
    isSignedOut: () => false,
    pause: () => Promise.resolve(),
    leave: does('leave'),
    reload: does('reload'),
    signIn: does('signIn'),
    goOn: () => void does('goOn')(),
    stay: () => void does('stay')(),
    ...more,
  };
  return { did, ways };
}

async function after(end: End, ...answers: readonly Who[]): Promise<readonly string[]> {
  const { did, ways } = page(answers);
  await endedBy(end, ways);
  return did;
}

describe('a page whose session is over', () => {
  it('goes where nobody is signed in once its person signed out, whoever the issuer still knows', async () => {
    expect(await after('sign-out', 'same')).toEqual(['leave']);
  });

  it('leaves for the issuer only once its time was over, and nobody has signed in elsewhere', async () => {
    const ends = Object.keys(DOING) as (keyof typeof DOING)[];
    expect(await Promise.all(ends.map((end) => after(end, 'nobody')))).toEqual([['signIn'], ['stay'], ['stay']]);
    expect(await Promise.all(ends.map((end) => after(end, 'same')))).toEqual(ends.map(() => ['goOn']));
    expect(await Promise.all(ends.map((end) => after(end, 'another')))).toEqual(ends.map(() => ['reload']));
  });

  it('does nothing while nobody answers who is signed in', async () => {
    expect(await after('expiry', 'unknown', 'unknown', 'same')).toEqual(['goOn']);
  });

  it('is not left under a window that holds it', async () => {
    let go = (): void => undefined;
    const free = (): Promise<void> => new Promise((resolve) => (go = resolve));
    for (const [end, does] of [
      ['sign-out', 'leave'],
      ['expiry', 'signIn'],
    ] as const) {
      const { did, ways } = page(['nobody'], { free });
      const ending = endedBy(end, ways);
      await settle();
      expect(did).toEqual([]);
      go();
      await ending;
      expect(did).toEqual([does]);
    }
  });

  it('does not leave for the issuer before somebody looks at it', async () => {
    let look = (): void => undefined;
    const { did, ways } = page(['nobody'], { seen: () => new Promise((resolve) => (look = resolve)) });
    const ending = endedBy('expiry', ways);
    await settle();
    expect(did).toEqual([]);
    look();
    await ending;
    expect(did).toEqual(['signIn']);
  });

  it('signs nobody in who signs out while it asks who is there, or waits for an answer', async () => {
    for (const answers of [['nobody'], ['unknown', 'nobody']] as const) {
      const left: Who[] = [...answers];
      let isSignedOut = false;
      const who = (): Promise<Who> => {
        isSignedOut = left.length === 1;
        return Promise.resolve(left.shift() ?? 'nobody');
      };
      const { did, ways } = page([], { who, isSignedOut: () => isSignedOut });
      await endedBy('expiry', ways);
      expect(did).toEqual(['leave']);
    }
  });

  it('leaves for the issuer alone: the others go on once somebody is signed in', async () => {
    let isSignedIn = false;
    let turn = Promise.resolve();
    const alone = (act: () => Promise<void>): Promise<void> => (turn = turn.then(act));
    const who = (): Promise<Who> => Promise.resolve(isSignedIn ? 'same' : 'nobody');
    const pages = [1, 2, 3].map(() => page([], { alone, who }));
    const signIn = (did: string[]) => (): Promise<void> => {
      did.push('signIn');
      isSignedIn = true;
      return Promise.resolve();
    };
    await Promise.all(pages.map(({ did, ways }) => endedBy('expiry', { ...ways, signIn: signIn(did) })));
    expect(pages.map(({ did }) => did)).toEqual([['signIn'], ['goOn'], ['goOn']]);
  });
});

describe('why a session ended', () => {
  it.each([
    [{ by: 'sign-out' }, 'sign-out'],
    [{}, 'lost'],
    [null, 'lost'],
    [{ by: 'other' }, 'lost'],
  ] as const)('is read of what the stream said: %j', (said, by) => {
    expect(endOf(said)).toBe(by);
  });
});
