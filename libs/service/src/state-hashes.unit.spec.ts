import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { StateHashes } from './state-hashes.js';

describe('hashes of partitions', () => {
  it('are made one at a time, and shared by all who ask for one meanwhile', async () => {
    let [open, most] = [0, 0];
    const made: string[] = [];
    const hashes = new StateHashes((log, partition) => ({
      head: () => Promise.resolve(null),
      stateHash: async () => {
        most = Math.max(most, (open += 1));
        await Promise.resolve();
        open -= 1;
        made.push(`${log}/${String(partition)}`);
        return `hash ${String(partition)}`;
      },
    }));
    const asked = Array.from({ length: 12 }, (_, at) => hashes.of('things', at % 3));
    expect((await Promise.all(asked)).map(({ hash }) => hash)).toEqual(asked.map((_, at) => `hash ${String(at % 3)}`));
    expect(most).toBe(1);
    expect([...made].sort()).toEqual(['things/0', 'things/0', 'things/1', 'things/1', 'things/2', 'things/2']);
  });

  it('go on after one that failed', async () => {
    let isAway = true;
    const hashes = new StateHashes(() => ({
      head: () => Promise.resolve(null),
      stateHash: () =>
        isAway ? Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'state hash')) : Promise.resolve('hash'),
    }));
    await expect(hashes.of('things', 0)).rejects.toThrow('DATABASE_UNAVAILABLE');
    isAway = false;
    expect(await hashes.of('things', 1)).toEqual({ seq: 0, hash: 'hash' });
  });
});
