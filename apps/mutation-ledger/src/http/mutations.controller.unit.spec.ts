// The run of a preview, where no path can name it.
import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { MutationsController } from './mutations.controller.js';

it('an undo is previewed of the run that the query names, above that of the path', async () => {
  const asked: unknown[] = [];
  const reads = {
    every: (_caller: unknown, { where }: { readonly where: unknown }) => {
      asked.push(where);
      return Promise.resolve([]);
    },
    whichErased: () => Promise.resolve([]),
  };
  const edge = new MutationsController(reads as never, { now: () => Promise.resolve(0) } as never);
  const caller = {} as never;
  expect(await edge.undoPreview(caller, 'in-query', { run_id: '..', mutation_id: [] })).toMatchObject({ run_id: '..' });
  expect(await edge.undoPreview(caller, 'run_1', { mutation_id: [] })).toMatchObject({ run_id: 'run_1' });
  expect(asked).toEqual([{ run_id: '..' }, { run_id: 'run_1' }]);
});
