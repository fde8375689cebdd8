// Where a run goes on, over HTTP: what is read and opened for the answer, and what of a run is left where it is.
import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { EdgeRefusal } from '@recourse/service';
import type { Caller, Reads, ServiceContext } from '@recourse/service';
import { chunk, commit, committed, rollback, spread } from '../core/commits.testing.js';
import type { Told } from '../core/commits.testing.js';
import { executed, ledger, MUTATION, NOW, refund, RUN, TRIGGERED } from '../core/ledger.testing.js';
import type { Ledger } from '../core/ledger.testing.js';
import { CommitsController } from './commits.controller.js';

const CALLER = {} as Caller; // nothing here reads it
/** More than one chunk holds. */
const LARGE = 'x'.repeat(400_000);

/** A run of commits with large states of their own, the last of which fell. */
function history(): { readonly on: Ledger; readonly told: readonly Told[] } {
  const on = ledger();
  const told = ['plan', 'act', 'tell', 'more'].reduce<readonly Told[]>((made, step) => {
    const before = made.at(-1);
    const next = commit(step, { parents: before === undefined ? [] : [before.ref], whole: { step, text: LARGE } });
    on.run.when(committed(next), NOW);
    for (const index of next.chunks.keys()) on.run.when(chunk(next, index), NOW);
    return [...made, next];
  }, []);
  spread(on.run, on.fallen, rollback(told[3] as Told), NOW + 1);
  return { on, told };
}

/** The controller over the rows of a run, with what it reads and opens. */
function edgeOf({ run }: Ledger, { isRefused = false, afterCommits = () => {} } = {}) {
  const read: unknown[] = [];
  const opened: unknown[] = [];
  const asked: unknown[] = [];
  const reads = {
    every: async (_caller: Caller, { kind, where }: Parameters<Reads['every']>[1], countMax: number) => {
      asked.push([kind, where]);
      const docs = run.rows(kind).map(({ doc }) => doc);
      await Promise.resolve();
      if (kind === 'commit') afterCommits();
      if (kind !== 'state_chunk') return docs;
      const ids = where['commit_id'] as readonly string[];
      const found = docs.filter(({ commit_id: id }) => ids.includes(String(id))).slice(0, countMax);
      read.push([ids, found.length]);
      return found;
    },
    find: (_caller: Caller, { where }: Parameters<Reads['find']>[1]) =>
      Promise.resolve({
        ...run.rows('commit').find(({ doc }) => doc['commit_id'] === where['commit_id']),
        partition: 0,
      }),
    refuseSealed: () => {
      if (isRefused) throw new EdgeRefusal('PAYLOADS_SEALED', 'not for you');
    },
    opened: (_caller: Caller, docs: readonly Readonly<Record<string, unknown>>[]) => {
      opened.push(...docs.map(({ commit_id: id }) => id));
      return Promise.resolve(docs);
    },
  } as unknown as Reads; // what the controller asks of them
  const service = { projection: { isReached: () => Promise.resolve(true) } } as unknown as ServiceContext; // no more is asked
  return { read, opened, asked, controller: new CommitsController(reads, service) };
}

describe('where a run with many large states goes on', () => {
  it('is told by the state of one commit: no chunk of another is read, and nothing of it opened', async () => {
    const { on, told } = history();
    const { read, opened, controller } = edgeOf(on);
    const answer = await controller.resume(CALLER, 'run-1', {});
    const [, , at, fallen] = told.map(({ id }) => id);
    expect(answer).toMatchObject({ checkpoint: { commit_id: at }, state: { step: 'tell' }, rolled_back: [fallen] });
    const count = told[2]?.chunks.length ?? 0;
    expect(count).toBeGreaterThan(1);
    expect(read).toEqual([
      [[at], 1],
      [[at], count],
    ]);
    expect(new Set(opened)).toEqual(new Set([at, fallen]));
  });

  it('is refused to whoever is shown no payload before its chunks are read', async () => {
    const { on } = history();
    const { read, controller } = edgeOf(on, { isRefused: true });
    await expect(controller.resume(CALLER, 'run-1', {})).rejects.toMatchObject({ code: 'PAYLOADS_SEALED' });
    expect(read).toEqual([[expect.anything(), 1]]);
  });

  it('is asked of one commit alike: its own path is read, and no other', async () => {
    const { on, told } = history();
    const { read, controller } = edgeOf(on);
    const [first] = told;
    const answer = await controller.one(CALLER, first?.id ?? '', { state: 'true' });
    expect(answer).toMatchObject({ commit_id: first?.id, state: { step: 'plan' }, state_code: null });
    expect(read.at(-1)).toEqual([[first?.id], first?.chunks.length]);
  });
});

it('where a run goes on is not on an effect that fell after its commits were read', async () => {
  const on = ledger();
  on.run.when(executed(refund()), NOW);
  const act = commit('act', { parents: [{ run_id: RUN, commit_id: MUTATION }], whole: { step: 'act' } });
  on.run.when(committed(act), NOW);
  const { controller } = edgeOf(on, {
    afterCommits: () => {
      spread(on.run, on.fallen, TRIGGERED, NOW + 1);
    },
  });
  expect(await controller.resume(CALLER, RUN, {})).toMatchObject({ checkpoint: null, rolled_back: [MUTATION] });
  expect(await edgeOf(on).controller.resume(CALLER, RUN, {})).toMatchObject({ rolled_back: [act.id, MUTATION] });
});

it('where a run goes on is said of the run that the query names, above that of the path', async () => {
  const { on } = history();
  const [named, plain] = [edgeOf(on), edgeOf(on)];
  expect(await named.controller.resume(CALLER, 'in-query', { run_id: 'run-1' })).toMatchObject({ run_id: 'run-1' });
  await plain.controller.resume(CALLER, 'run-1', {});
  expect(named.asked).toEqual(plain.asked);
  expect(JSON.stringify(named.asked)).not.toContain('in-query');
});
