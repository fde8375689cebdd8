import { describe, expect, it } from '@jest/globals';
import { JoinedReads } from './joined-reads.js';

/** Reads that end when they are told to. */
class Scene {
  readonly asked: (readonly string[])[] = [];
  readonly rows = new Map<string, string>();
  readonly reads: JoinedReads<string>;
  private readonly under: PromiseWithResolvers<ReadonlyMap<string, string>>[] = [];

  constructor(keysMax?: number) {
    this.reads = new JoinedReads((keys) => {
      this.asked.push(keys);
      const read = Promise.withResolvers<ReadonlyMap<string, string>>();
      this.under.push(read);
      return read.promise;
    }, keysMax);
  }

  /** The read under way sees what is there now. */
  async answer(): Promise<void> {
    this.under.shift()?.resolve(new Map(this.rows));
    await new Promise(setImmediate);
  }

  async fail(): Promise<void> {
    this.under.shift()?.reject(new Error('gone'));
    await new Promise(setImmediate);
  }
}

describe('reads of single rows that are joined', () => {
  it('are one read, however many ask while one is under way', async () => {
    const scene = new Scene();
    scene.rows.set('b', 'two');
    const first = scene.reads.read('a');
    const others = ['b', 'c', 'b'].map((key) => scene.reads.read(key));
    await scene.answer();
    await scene.answer();
    expect(scene.asked).toEqual([['a'], ['b', 'c']]);
    expect(await first).toBeNull();
    expect(await Promise.all(others)).toEqual(['two', null, 'two']);
  });

  it('answer nothing that was read before it was asked for', async () => {
    const scene = new Scene();
    const early = scene.reads.read('a');
    const late = scene.reads.read('a');
    await scene.answer();
    scene.rows.set('a', 'one');
    await scene.answer();
    expect([await early, await late]).toEqual([null, 'one']);
  });

  it('fail those they were for, and nobody else', async () => {
    const scene = new Scene();
    scene.rows.set('b', 'two');
    const first = scene.reads.read('a');
    const second = scene.reads.read('b');
    const failed = expect(first).rejects.toThrow('gone');
    await scene.fail();
    await failed;
    await scene.answer();
    expect(await second).toBe('two');
  });

  it('ask for no more keys at a time than they may', async () => {
    const scene = new Scene(2);
    const all = ['a', 'b', 'c', 'd'].map((key) => scene.reads.read(key));
    for (let read = 0; read < 3; read += 1) await scene.answer();
    expect(scene.asked).toEqual([['a'], ['b', 'c'], ['d']]);
    expect(await Promise.all(all)).toEqual([null, null, null, null]);
  });
});
