// Pages of one browser, and the one stream of events that they share.
import { describe, expect, it } from '@jest/globals';
import type { End, Who } from './ends.js';
import { Line } from './line.js';
import type { SourceHears } from './line.js';

interface Stream {
  readonly at: string;
  readonly hears: SourceHears;
  isOpen: boolean;
}

/** A page as the spec sees it. */
interface Page {
  readonly line: Line;
  readonly moved: string[][];
  readonly ended: End[];
  lost: number;
  who: Who;
  /** Lets the time pass that the page waits for. */
  readonly wait: () => Promise<void>;
  /** It neither hears nor tells any more, and holds what it holds. */
  freeze: () => void;
}

const settle = (): Promise<void> => new Promise(setImmediate);

/** A browser: its pages, what they say to each other, and who has the lock. */
function browser() {
  const streams: Stream[] = [];
  const pages: { readonly page: Page; hears: boolean }[] = [];
  const waiting: (() => void)[] = [];
  let holder: { readonly lose: (cause: Error) => void } | null = null;

  function turn(hold: () => Promise<void>, isTaken: boolean): Promise<void> {
    return new Promise<void>((resolve, reject) => {
      const begin = (): void => {
        const mine = { lose: reject };
        holder = mine;
        void hold().then(() => {
          resolve();
          if (holder !== mine) return;
          holder = null;
          waiting.shift()?.();
        });
      };
      if (isTaken) {
        holder?.lose(new Error('taken'));
        begin();
      } else if (holder === null) begin();
      else waiting.push(begin);
    });
  }

  function open(start = 'p0'): Page {
    let due: (() => void) | null = null;
    const page: Page = {
      moved: [],
      ended: [],
      lost: 0,
      who: 'same',
      wait: async () => {
        due?.();
        await settle();
      },
      freeze: () => {
        place.hears = false;
      },
      line: new Line(
        start,
        {
          stream: (at, hears) => {
            const stream = { at, hears, isOpen: true };
            streams.push(stream);
            return { close: () => (stream.isOpen = false) };
          },
          turn,
          tell: (said) => {
            if (place.hears) for (const other of pages) if (other !== place && other.hears) other.page.line.hear(said);
          },
          who: () => Promise.resolve(page.who),
          after: (_ms, run) => {
            due = run;
            return () => {
              if (due === run) due = null;
            };
          },
        },
        {
          onHeard: (moved) => page.moved.push([...moved]),
          onLost: () => (page.lost += 1),
          onEnded: (by) => page.ended.push(by),
        },
      ),
    };
    const place = { page, hears: true };
    pages.push(place);
    page.line.open();
    return page;
  }
  const current = (): Stream | undefined => streams.findLast(({ isOpen }) => isOpen);
  return { open, streams, openStreams: () => streams.filter(({ isOpen }) => isOpen).length, current };
}

const moved = (...names: string[]): unknown => ({ moved: names, away: [] });
const ALL = ['contracts', 'ledger', 'recoveries', 'budgets', 'notifier'];

describe('pages of one browser', () => {
  it('hold one stream between them, and each hears what moved', () => {
    const { open, streams, current } = browser();
    const pages = Array.from({ length: 7 }, () => open());
    expect(streams).toHaveLength(1);
    current()?.hears.onMoved(moved('ledger'), 'p1');
    expect(pages.map((page) => page.moved.at(-1))).toEqual(pages.map(() => ['ledger']));
  });

  it('go on where the stream was heard last, once the page that held it closes', async () => {
    const { open, streams, current, openStreams } = browser();
    const [first, second] = [open(), open(), open()];
    current()?.hears.onMoved(moved('ledger'), 'p1');
    first.line.close();
    await settle();
    expect([openStreams(), streams.at(-1)?.at]).toEqual([1, 'p1']);
    current()?.hears.onMoved(moved('budgets'), 'p2');
    expect(second.moved).toEqual([['ledger'], ['budgets']]);
  });

  it('are told at once how things are when they come later, and read nothing twice', () => {
    const { open, current } = browser();
    open();
    current()?.hears.onMoved(moved('ledger'), 'p5');
    const late = open('p5');
    expect(late.moved).toEqual([[]]);
  });

  it('read everything again where whoever took the stream had heard more than they', async () => {
    const { open, current } = browser();
    const [first, second] = [open(), open()];
    current()?.hears.onMoved(moved('ledger'), 'p1');
    first.freeze();
    current()?.hears.onMoved(moved('budgets'), 'p2');
    const third = open('p2');
    await third.wait();
    await third.wait();
    current()?.hears.onBeat();
    expect([second.moved.at(-1), third.moved.at(-1)]).toEqual([ALL, []]);
  });

  it('take the stream from a page that is silent and does not answer, and say that it was lost', async () => {
    const { open, current, openStreams } = browser();
    const [first, second] = [open(), open()];
    current()?.hears.onBeat();
    first.freeze();
    await second.wait();
    expect([second.lost, openStreams()]).toEqual([1, 1]);
    await second.wait();
    current()?.hears.onMoved(moved('ledger'), 'p3');
    expect([second.moved.at(-1), openStreams()]).toEqual([['ledger'], 1]);
  });

  it('leave the stream to a page that answers that it has lost it', async () => {
    const { open, streams, current } = browser();
    const [first, second] = [open(), open()];
    current()?.hears.onBeat();
    first.who = 'unknown';
    current()?.hears.onFailed(true);
    for (let at = 0; at < 5; at += 1) await second.wait();
    expect([streams.length, first.lost, second.lost > 0]).toEqual([1, 1, true]);
  });
});

describe('a stream that the console refuses', () => {
  it('is opened again once the console answers, where it was heard last, and everything is read', async () => {
    const { open, streams, current } = browser();
    const [first, second] = [open(), open()];
    current()?.hears.onMoved(moved('ledger'), 'p1');
    first.who = 'unknown';
    current()?.hears.onFailed(true);
    await first.wait();
    expect(streams).toHaveLength(1);
    first.who = 'same';
    await first.wait();
    expect(streams.at(-1)?.at).toBe('p1');
    current()?.hears.onBeat();
    expect([first.moved.at(-1), second.moved.at(-1)]).toEqual([ALL, ALL]);
  });

  it.each([
    ['nobody', 'lost'],
    ['another', 'sign-in'],
  ] as const)('is over for all pages where %s is signed in, and is asked for no more', async (who, by) => {
    const { open, streams, current } = browser();
    const [first, second] = [open(), open()];
    first.who = who;
    current()?.hears.onFailed(true);
    for (let at = 0; at < 3; at += 1) await Promise.all([first.wait(), second.wait()]);
    expect([first.ended, second.ended, streams.length]).toEqual([[by], [by], 1]);
  });
});

describe('a session that ended', () => {
  it('is told to all pages, with why, and its stream is over', async () => {
    const { open, current, openStreams } = browser();
    const pages = [open(), open(), open()];
    current()?.hears.onEnded({ by: 'sign-out' });
    await settle();
    expect([pages.map(({ ended }) => ended), openStreams()]).toEqual([[['sign-out'], ['sign-out'], ['sign-out']], 0]);
  });

  it('is followed by the next: a page whose session ended hears that another page is signed in', async () => {
    const { open, current } = browser();
    const first = open();
    current()?.hears.onEnded({ by: 'expiry' });
    await settle();
    open();
    current()?.hears.onBeat();
    expect([first.ended, first.moved]).toEqual([['expiry'], [[]]]);
  });
});
