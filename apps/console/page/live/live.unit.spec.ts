// What a page shows and does by what it hears: of its stream, and of other pages of its browser.
import { describe, expect, it } from '@jest/globals';
import { QueryClient } from '@tanstack/react-query';
import type { Who } from './ends.js';
import type { SourceHears } from './line.js';
import { Live } from './live.js';

const settle = (): Promise<void> => new Promise(setImmediate);

/** What resolves when the spec says so. */
function gate() {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { open: () => (open(), settle()), passed: () => passed };
}

interface Page {
  /** It has the stream; another page has it otherwise. */
  readonly isHolder?: boolean;
  readonly seen?: () => Promise<void>;
  readonly free?: () => Promise<void>;
}

const ROWS = ['ledger', 'of a screen'];
const AT_ONCE = (): Promise<void> => Promise.resolve();

/** A page that read rows of the ledger at position p0, and what it did. */
function page({ isHolder = false, seen = AT_ONCE, free = AT_ONCE }: Page = {}) {
  const did: string[] = [];
  const gone = (where: string) => (): Promise<never> => {
    did.push(where);
    return new Promise(() => undefined);
  };
  const here = { who: 'same' as Who };
  let hear: (said: unknown) => void = () => undefined;
  let stream: SourceHears | null = null;
  const queries = new QueryClient();
  queries.setQueryData(ROWS, 'as A');
  const live = new Live(
    queries,
    {
      free,
      seen,
      alone: (act) => act(),
      who: () => Promise.resolve(here.who),
      pause: AT_ONCE,
      leave: gone('leave'),
      reload: gone('reload'),
      signIn: gone('signIn'),
    },
    {
      start: 'p0',
      linePartsOf: (who) => ({
        stream: (_at, hears) => {
          stream = hears;
          return { close: () => undefined };
        },
        turn: (hold) => (isHolder ? hold() : new Promise(() => undefined)),
        tell: () => undefined,
        who,
        after: () => () => undefined,
      }),
      onSaid: (hears) => (hear = hears),
      pause: AT_ONCE,
    },
  );
  return {
    did,
    here,
    live,
    ended: async (by: string) => {
      stream?.onEnded({ by });
      await settle();
    },
    /** Another page says so. */
    said: async (said: object) => {
      hear(said);
      await settle();
    },
    isToBeRead: () => queries.getQueryState(ROWS)?.isInvalidated,
    stream: () => live.state().stream,
  };
}

const heard = (was: string, at: string, ...moved: string[]): object => ({ says: 'heard', was, at, moved, away: [] });
const SIGNED_OUT = { says: 'ended', by: 'sign-out' };

describe('a page whose session is over, and whose person then signs out elsewhere,', () => {
  it('goes where nobody is signed in before anybody looks at it, and signs nobody in', async () => {
    const look = gate();
    const { did, live, here, ended, said } = page({ isHolder: true, seen: look.passed });
    live.open();
    here.who = 'nobody';
    await ended('expiry');
    await said(SIGNED_OUT);
    expect(did).toEqual(['leave']);
    await look.open();
    expect(did).toEqual(['leave']);
  });

  it.each(['expiry', 'sign-in'])('goes there once no window holds it (%s)', async (by) => {
    const window = gate();
    const { did, live, here, ended, said } = page({ isHolder: true, free: window.passed });
    live.open();
    here.who = 'nobody';
    await ended(by);
    await said(SIGNED_OUT);
    expect(did).toEqual([]);
    await window.open();
    expect(did).toEqual(['leave']);
  });
});

describe('a page whose session was replaced by one that is gone', () => {
  it('says that nobody is signed in, and shows nothing as live before it asked who is', async () => {
    const { did, live, here, ended, said, stream, isToBeRead } = page({ isHolder: true });
    live.open();
    here.who = 'nobody';
    await ended('sign-in');
    expect(stream()).toBe('ended');
    here.who = 'another';
    await said(heard('p0', 'p1', 'ledger'));
    expect([stream(), did, isToBeRead()]).toEqual(['ended', ['reload'], false]);
  });

  it('goes on where its person is signed in again, and reads everything', async () => {
    const { did, live, ended, said, stream, isToBeRead } = page({ isHolder: true });
    live.open();
    await ended('sign-in');
    expect([stream(), did, isToBeRead()]).toEqual(['connecting', [], true]);
    await said(SIGNED_OUT);
    expect(did).toEqual(['leave']);
  });
});

describe('a page that another one tells what moved', () => {
  it('reads what moved before it listened, since it began to read', async () => {
    const { live, said, stream, isToBeRead } = page();
    await said(heard('p0', 'p1', 'ledger'));
    live.open();
    expect(isToBeRead()).toBe(false);
    await said(heard('p1', 'p1'));
    expect([stream(), isToBeRead()]).toEqual(['on', true]);
  });

  it('reads what moved while its person was being signed out, where that came to nothing', async () => {
    const { live, said, stream, isToBeRead } = page();
    live.open();
    await said(heard('p0', 'p0'));
    live.close();
    await said(heard('p0', 'p1', 'ledger'));
    live.open();
    expect(isToBeRead()).toBe(false);
    await said(heard('p1', 'p1'));
    expect([stream(), isToBeRead()]).toEqual(['on', true]);
  });

  it('reads nothing twice where nothing moved', async () => {
    const { live, said, stream, isToBeRead } = page();
    live.open();
    await said(heard('p0', 'p0'));
    expect([stream(), isToBeRead()]).toEqual(['on', false]);
  });
});
