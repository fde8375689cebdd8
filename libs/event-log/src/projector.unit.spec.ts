import { afterEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import { COMMAND_KIND, READING_KIND } from './fold.js';
import { Projector } from './projector.js';
import type { Change } from './service-core.js';
import type { PartitionStore, ProjectedHead } from './store.port.js';

const put = (kind: string, key: string): Change => ({
  op: 'put',
  row: { kind, group: key, key, dueAt: null, doc: { key } },
});
const head = (seq: number): ProjectedHead => ({
  seq,
  hash: Buffer.alloc(32, seq),
  offset: seq,
  decidedAt: seq,
  cursors: [],
  reactedSeq: 0,
  reactedOffset: 0,
});
/** A projector over a store that notes what each transaction holds. */
function projecting(): { readonly projector: Projector; readonly written: number[]; readonly clock: ManualClock } {
  const clock = new ManualClock();
  const written: number[] = [];
  const store: Pick<PartitionStore, 'project'> = {
    project: (_from, _to, changes) => {
      written.push(changes.length);
      return Promise.resolve('projected');
    },
  };
  const unexpected = (cause: unknown): never => {
    throw cause instanceof Error ? cause : new Error(String(cause));
  };
  // It projects, and asks the store for nothing else.
  const projector = new Projector(store as PartitionStore, clock, {
    projected: () => undefined,
    fenced: () => unexpected(new Error('fenced')),
    error: unexpected,
  });
  projector.reset(null);
  return { projector, written, clock };
}

describe('rows on their way to the store', () => {
  let open: Projector | null = null;
  afterEach(() => open?.stop());
  const begun = (): ReturnType<typeof projecting> => {
    const begun = projecting();
    open = begun.projector;
    return begun;
  };

  it('are written at once when nothing was for a while, and then rest a moment, to be written together', async () => {
    const { projector, written, clock } = begun();
    projector.enqueue(head(1), [put('thing', 'a')]);
    await clock.advance(5);
    expect(written).toEqual([1]);
    for (let seq = 2; seq <= 4; seq += 1) {
      projector.enqueue(head(seq), [put('thing', 'a')]);
      await clock.advance(5);
    }
    expect(written).toEqual([1]);
    expect(projector.backlog).toBe(3);
    await clock.advance(200);
    expect(written).toEqual([1, 3]);
    expect(projector.backlog).toBe(0);
  });

  it('are written soon with the answer to a command', async () => {
    const { projector, written, clock } = begun();
    projector.enqueue(head(1), [put('thing', 'a')]);
    await clock.advance(5);
    projector.enqueue(head(2), [put('thing', 'a')]);
    projector.enqueue(head(3), [put(COMMAND_KIND, 'cmd_1')]);
    await clock.advance(60);
    expect(written).toEqual([1, 2]);
  });

  it('are written with other answers when many ask', async () => {
    const { projector, written, clock } = begun();
    projector.enqueue(head(1), [put(COMMAND_KIND, 'cmd_1')]);
    await clock.advance(1);
    for (let seq = 2; seq <= 11; seq += 1) {
      projector.enqueue(head(seq), [put(COMMAND_KIND, `cmd_${String(seq)}`)]);
      await clock.advance(3);
    }
    expect(written).toEqual([1]);
    await clock.advance(30);
    expect(written).toEqual([1, 10]);
  });

  it('are written at once when somebody waits for them, and when they are many', async () => {
    const { projector, written, clock } = begun();
    projector.enqueue(head(1), [put('thing', 'a')]);
    await projector.drained();
    expect(written).toEqual([1]);
    projector.enqueue(
      head(2),
      Array.from({ length: 5_000 }, (_, index) => put('thing', String(index))),
    );
    await clock.advance(10);
    expect(written).toEqual([1, 5_000]);
  });

  it('are not all waited for by whoever goes on once few enough are left', async () => {
    const { projector, written } = begun();
    for (let seq = 1; seq <= 4; seq += 1)
      projector.enqueue(
        head(seq),
        Array.from({ length: 8_000 }, (_, index) => put('thing', String(index))),
      );
    await projector.drained(16_000);
    expect(written).toEqual([8_000, 8_000]);
    expect(projector.backlog).toBe(16_000);
    await projector.drained();
    expect(projector.backlog).toBe(0);
  });

  it('tell what moved without the readings of sealed payloads: who looks at what moved would make another by looking', async () => {
    const { projector, clock } = begun();
    const seen = async (seq: number, ...changes: readonly Change[]): Promise<readonly number[]> => {
      projector.enqueue(head(seq), changes);
      await clock.advance(1_000);
      return [projector.projectedSeq, projector.movedSeq];
    };
    expect(await seen(2, put('thing', 'a'))).toEqual([2, 2]);
    expect(await seen(4, put(READING_KIND, 'r'), put(COMMAND_KIND, 'r'))).toEqual([4, 2]);
    expect(await seen(6, put(COMMAND_KIND, 'c'))).toEqual([6, 6]);
    expect(await seen(8, put(READING_KIND, 's'), put(COMMAND_KIND, 's'), put('thing', 'a'))).toEqual([8, 8]);
    expect(await seen(9)).toEqual([9, 9]);
  });
});
