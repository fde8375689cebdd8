import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Journal } from './journal.js';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'journal-'));
});
const journals: Journal<number, { readonly add: number }>[] = [];
afterAll(async () => {
  await Promise.all(journals.map((journal) => journal.close()));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});

async function open(name: string): Promise<Journal<number, { readonly add: number }>> {
  const journal = await Journal.open<number, { readonly add: number }>({
    path: join(root, name, 'journal.jsonl'),
    initial: 0,
    evolve: (sum, { add }) => sum + add,
  });
  journals.push(journal);
  return journal;
}

describe('a journal', () => {
  it('has on disk what it answered', async () => {
    const journal = await open('a');
    await journal.record({ add: 2 });
    expect(await readFile(join(root, 'a', 'journal.jsonl'), 'utf8')).toBe('{"add":2}\n');
    expect((await open('a')).state).toBe(2);
  });

  it('lets each transaction see all earlier ones', async () => {
    const journal = await open('b');
    const seen = await Promise.all(
      Array.from({ length: 10 }, () => journal.transact((sum) => ({ events: [{ add: 1 }], answer: sum }))),
    );
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });

  it('cuts off a line that was never finished, and goes on behind the last that was', async () => {
    const journal = await open('c');
    await journal.record({ add: 1 });
    await appendFile(join(root, 'c', 'journal.jsonl'), '{"add":1');
    const reopened = await open('c');
    expect(reopened.state).toBe(1);
    await reopened.record({ add: 4 });
    expect((await open('c')).state).toBe(5);
  });

  it('survives a transaction that throws', async () => {
    const journal = await open('d');
    await expect(
      journal.transact(() => {
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    await journal.record({ add: 3 });
    expect(journal.state).toBe(3);
  });
});
