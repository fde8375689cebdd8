import { beforeEach, describe, expect, it } from '@jest/globals';
import { MemoryKeyStore } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import { COUNT_QUERY, hardenedQuery, MARK_START } from './hardened-commits.js';
import type { HardenedCommit, Mark } from './hardened-commits.js';
import { PAGE, StateJanitor } from './state-janitor.js';
import type { StateJanitorOptions } from './state-janitor.js';

const WINDOW = { windowStart: 0, windowEnd: 86_400_000 };
const hardened = (n: number, updated_at: number, tenant = 'acme'): HardenedCommit => ({
  tenant,
  commit_id: `cp_${String(n).padStart(6, '0')}`,
  updated_at,
});

let keys: MemoryKeyStore;
let rows: Map<number, HardenedCommit[]>;
let asked: Mark[];
let told: string[];

beforeEach(() => {
  keys = new MemoryKeyStore();
  rows = new Map([
    [0, []],
    [1, []],
  ]);
  asked = [];
  told = [];
});

/** A reader over plain lists, as the table answers. */
function after(partition: number, mark: Mark, limit: number): Promise<readonly HardenedCommit[]> {
  asked.push(mark);
  const behind = (rows.get(partition) ?? []).filter(
    ({ updated_at, commit_id }) =>
      updated_at > mark.updatedAt || (updated_at === mark.updatedAt && commit_id > mark.commitId),
  );
  return Promise.resolve(
    behind
      .toSorted((left, right) => left.updated_at - right.updated_at || (left.commit_id < right.commit_id ? -1 : 1))
      .slice(0, limit),
  );
}

function janitor(more: Partial<StateJanitorOptions> = {}): StateJanitor {
  return new StateJanitor({
    commits: {
      partitions: () => Promise.resolve([...rows.keys()]),
      after,
      counts: () => Promise.resolve({ kept: 3, retention: 1 }),
      close: () => {
        told.push('closed');
        return Promise.resolve();
      },
    },
    keys,
    metrics: {
      count: (name, _labels, by) => {
        told.push(`${name} ${String(by)}`);
      },
      set: (name, labels, value) => {
        told.push(`${name} ${Object.values(labels).join()} ${String(value)}`);
      },
    },
    isReady: () => true,
    everyMs: 100,
    sleep: () => Promise.resolve(),
    onError: (cause) => {
      told.push(cause instanceof Failure ? cause.code : String(cause));
    },
    ...more,
  });
}

/** A key of each commit, and one of the run beside them. */
async function sealed(...commits: readonly HardenedCommit[]): Promise<readonly string[]> {
  const scopes = [
    ...commits.map(({ tenant, commit_id }) => ({ tenant, subject: 'run/1', ...WINDOW, unit: commit_id })),
    { tenant: 'acme', subject: 'run/1', ...WINDOW },
  ];
  return (await keys.ensure(scopes.map((scope, n) => ({ scope, candidate: Buffer.alloc(64, n) })))).map(
    ({ keyId }) => keyId,
  );
}
const standing = async (ids: readonly string[]): Promise<readonly boolean[]> =>
  (await keys.find(ids)).map(({ secret }) => secret !== null);

describe('the state janitor', () => {
  it('destroys the keys of states that were given up, of every partition and tenant, and no other', async () => {
    const [one, two, kept] = [hardened(1, 10), hardened(2, 5, 'globex'), hardened(3, 10)];
    const ids = await sealed(one, two, kept);
    rows.set(0, [one]).set(1, [two]);
    expect(await janitor().sweep()).toBe(2);
    expect(await standing(ids)).toEqual([false, false, true, true]);
  });

  it('tells how many it destroyed, and how many commits have their state and why others have not', async () => {
    await sealed(hardened(1, 10));
    rows.set(0, [hardened(1, 10)]);
    const one = janitor();
    await one.sweep();
    expect(told).toEqual(['stateKeysDestroyed 1', 'commits kept 3', 'commits rolled_back 0', 'commits retention 1']);
    told = [];
    expect(await one.sweep()).toBe(0);
    expect(told[0]).toBe('commits kept 3');
  });

  it('goes on from where it was, and sees what came into a millisecond it has seen', async () => {
    const one = janitor();
    rows.set(0, [hardened(5, 10)]);
    await one.sweep();
    const late = hardened(4, 10);
    const ids = await sealed(late);
    rows.get(0)?.push(late);
    asked = [];
    expect(await one.sweep()).toBe(1);
    expect(asked[0]).toEqual({ updatedAt: 10, commitId: '' });
    expect(await standing(ids)).toEqual([false, true]);
  });

  it('takes a page after the other, also within one millisecond', async () => {
    const many = Array.from({ length: PAGE * 2 + 1 }, (_, n) => hardened(n, 10));
    await sealed(...many);
    rows.set(1, many);
    expect(await janitor().sweep()).toBe(many.length);
  });

  it('repeats what a failure left, in the next sweep', async () => {
    const ids = await sealed(hardened(1, 10));
    rows.set(0, [hardened(1, 10)]);
    let isDown = true;
    const one = janitor({
      keys: {
        destroyUnits: (...asking) =>
          isDown ? Promise.reject(new Failure('KEY_STORE_UNAVAILABLE', 'away')) : keys.destroyUnits(...asking),
      },
    });
    await expect(one.sweep()).rejects.toMatchObject({ code: 'KEY_STORE_UNAVAILABLE' });
    isDown = false;
    expect(await one.sweep()).toBe(1);
    expect(await standing(ids)).toEqual([false, true]);
  });

  it('sweeps while the process runs, says what failed, waits until the tables are there, and ends with it', async () => {
    let rounds = 0;
    const ready = [false, true, true, true];
    const asleep = Promise.withResolvers<undefined>();
    const awake = Promise.withResolvers<undefined>();
    const one = janitor({
      isReady: () => ready[rounds - 1] ?? false,
      sleep: () => {
        rounds += 1;
        if (rounds <= ready.length) return Promise.resolve();
        asleep.resolve(undefined);
        return awake.promise;
      },
      keys: { destroyUnits: () => Promise.reject(new Failure('KEY_STORE_UNAVAILABLE', 'away')) },
    });
    rows.set(0, [hardened(1, 10)]);
    one.onApplicationBootstrap();
    await asleep.promise;
    const ended = one.onModuleDestroy();
    awake.resolve(undefined);
    await ended;
    expect(told).toEqual(['KEY_STORE_UNAVAILABLE', 'KEY_STORE_UNAVAILABLE', 'KEY_STORE_UNAVAILABLE', 'closed']);
  });
});

describe('the statements of the janitor', () => {
  it('read one partition behind a mark, by the index over why and when', () => {
    const { text, values } = hardenedQuery(3, { updatedAt: 10, commitId: 'cp_1' }, 7);
    expect(values).toEqual([3, 10, 'cp_1', 7, 'rolled_back', 'retention']);
    expect(text).toContain(
      'hardened IN ($5, $6) AND updated_at >= $2 AND log_partition = $1 AND (updated_at, row_key) > ($2, $3)',
    );
    expect(hardenedQuery(0, MARK_START, 1).values.slice(0, 3)).toEqual([0, 0, '']);
  });

  it('count commits by what became of their state', () => {
    expect(COUNT_QUERY.text).toContain("coalesce(hardened, 'kept')");
  });
});
