// A program that is told to stop: before it runs, while it runs, and twice.
import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { stopOnSignal } from './stop-on-signal.js';
import type { Signalled } from './stop-on-signal.js';

class Program extends EventEmitter implements Signalled {
  #tell: (code: number) => void = () => undefined;
  readonly ended = new Promise<number>((resolve) => (this.#tell = resolve));
  exit(code: number): void {
    this.#tell(code);
  }
}

describe('a program that is told to stop', () => {
  it.each(['SIGTERM', 'SIGINT'])(
    'by %s ends with 0 at once while it starts: nothing of it needs an end',
    async (signal) => {
      const program = new Program();
      stopOnSignal(program);
      program.emit(signal);
      expect(await program.ended).toBe(0);
    },
  );

  it('stops what runs before it ends, once, however often it is told', async () => {
    const program = new Program();
    const done: string[] = [];
    const running = stopOnSignal(program);
    running(() => {
      done.push('stopped');
      return Promise.resolve();
    });
    program.emit('SIGTERM');
    program.emit('SIGINT');
    expect(await program.ended).toBe(0);
    expect(done).toEqual(['stopped']);
  });

  it('ends also where what runs cannot be stopped', async () => {
    const program = new Program();
    stopOnSignal(program)(() => Promise.reject(new Error('no broker answers')));
    program.emit('SIGTERM');
    expect(await program.ended).toBe(0);
  });
});
