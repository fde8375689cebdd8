// What an undo of a run would do, over HTTP: of which run, and while rows are behind their log.
import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import type { Caller, Reads, ServiceContext } from '@recourse/service';
import { executed, ledger, NOW, refund } from '../core/ledger.testing.js';
import type { LedgerQueries } from '../reads/ledger-queries.js';
import { MutationsController } from './mutations.controller.js';

/** The controller over rows that come with so many looks, or never. */
function previewed(looksUntilThere: number, isReached: boolean): Promise<unknown> {
  const { run } = ledger();
  run.when(executed(refund()), NOW);
  const rows = run.rows('mutation').map(({ doc }) => doc);
  let looks = 0;
  const reads = {
    every: () => Promise.resolve((looks += 1) > looksUntilThere ? rows : []),
    whichErased: (parts: readonly unknown[]) => Promise.resolve(parts.map(() => false)),
  } as unknown as Reads; // what the preview asks of them
  const queries = { now: () => Promise.resolve(NOW) } as unknown as LedgerQueries; // no more is asked
  const service = { projection: { isReached: () => Promise.resolve(isReached) } } as unknown as ServiceContext; // no more is asked
  return new MutationsController(reads, queries, service).undoPreview({} as Caller, 'run-1', { mutation_id: [] });
}

describe('a preview of an undo', () => {
  it('of a run whose rows were behind a moment ago has what came since', async () => {
    expect(await previewed(1, false)).toMatchObject({ items: [{ capability: 'payments.issue_refund' }] });
  });

  it('says that rows are behind, and not that there is nothing to undo', async () => {
    await expect(previewed(9, false)).rejects.toMatchObject({ code: 'PROJECTION_BEHIND' });
    expect(await previewed(9, true)).toMatchObject({ items: [] });
  });
});

it('an undo is previewed of the run that the query names, above that of the path', async () => {
  const asked: unknown[] = [];
  const reads = {
    every: (_caller: unknown, { where }: { readonly where: unknown }) => {
      asked.push(where);
      return Promise.resolve([]);
    },
    whichErased: () => Promise.resolve([]),
  };
  const service = { projection: { isReached: () => Promise.resolve(true) } };
  const edge = new MutationsController(
    reads as never,
    { now: () => Promise.resolve(0) } as never,
    service as never, // no more is asked
  );
  const caller = {} as never;
  expect(await edge.undoPreview(caller, 'in-query', { run_id: '..', mutation_id: [] })).toMatchObject({ run_id: '..' });
  expect(await edge.undoPreview(caller, 'run_1', { mutation_id: [] })).toMatchObject({ run_id: 'run_1' });
  expect(asked).toEqual(['..', '..', 'run_1', 'run_1'].map((run) => ({ group_key: run })));
});

describe('one mutation, for one who may make its call again', () => {
  /** What is asked of the rows, in order: where they stand against what was told, and for the mutation. */
  async function asked(isRead: boolean, runId?: string): Promise<readonly unknown[]> {
    const seen: unknown[] = [];
    const reads = {
      find: () => {
        seen.push('rows');
        return Promise.reject(Object.assign(new Error(), { code: 'NOT_FOUND' }));
      },
    } as unknown as Reads; // no more is asked
    const projection = {
      isReached: (...question: readonly unknown[]) => {
        seen.push(question);
        return Promise.resolve(isRead);
      },
    };
    const queries = {} as unknown as LedgerQueries; // nothing is asked
    const service = { projection } as unknown as ServiceContext; // no more is asked
    const edge = new MutationsController(reads, queries, service);
    const query = runId === undefined ? {} : { run_id: runId };
    const code = await edge
      .one({} as Caller, 'mut_1', query)
      .catch((error: unknown) => (error as { code: string }).code);
    return [...seen, code];
  }
  const TOLD = ['recourse.mutations', { wire: 'recourse.tool-executions', key: 'run-1' }];

  it('is said to be on no record only once all that was told of its run is read', async () => {
    expect(await asked(true, 'run-1')).toEqual([TOLD, 'rows', 'NOT_FOUND']);
    expect(await asked(false, 'run-1')).toEqual([TOLD, 'PROJECTION_BEHIND']);
  });

  it('is read at once for anybody else', async () => {
    expect(await asked(false)).toEqual(['rows', 'NOT_FOUND']);
  });
});
