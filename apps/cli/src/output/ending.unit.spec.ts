import { Writable } from 'node:stream';
import { expect, it, jest } from '@jest/globals';
import { endProcess } from './ending.js';

/** A stream that takes its time, or breaks. */
function slow(taken: string[], failure: Error | null = null): Writable {
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      setTimeout(() => {
        taken.push(chunk.toString());
        done(failure);
      }, 20);
    },
  });
  return stream.on('error', () => undefined);
}

it('ends the process when its answer is written, and not before', async () => {
  const [out, err, codes]: [string[], string[], number[]] = [[], [], []];
  const streams = [slow(out), slow(err)] as const;
  for (const part of ['an', 'answer']) streams[0].write(part);
  streams[1].write('beside it');
  await endProcess(4, {
    streams,
    exit: (code) => {
      codes.push(code);
      expect([out.join(''), err.join('')]).toEqual(['ananswer', 'beside it']);
    },
  });
  expect(codes).toEqual([4]);
});

it('ends the process although nobody reads its answer any more', async () => {
  const stream = slow([], new Error('EPIPE'));
  stream.write('an answer');
  const codes: number[] = [];
  await endProcess(0, { streams: [stream], exit: (code) => void codes.push(code) });
  await endProcess(1, { streams: [stream], exit: (code) => void codes.push(code) });
  expect(codes).toEqual([0, 1]);
});

it('ends the process of a call that has its answer, whatever is still under way in it', async () => {
  const codes: unknown[] = [];
  const said: string[] = [];
  jest.replaceProperty(process, 'argv', ['node', 'recourse', '--help']);
  jest.spyOn(process, 'exit').mockImplementation((code) => codes.push(code) as never); // it goes on, which a process does not
  for (const stream of [process.stdout, process.stderr])
    jest.spyOn(stream, 'write').mockImplementation((text: unknown, then: unknown) => {
      said.push(String(text));
      if (typeof then === 'function') (then as () => void)(); // of `write`, which is overloaded
      return true;
    });
  try {
    await import('../main.js');
  } finally {
    jest.restoreAllMocks();
  }
  expect([codes, said.join('').trimEnd().endsWith('A bug.')]).toEqual([[0], true]);
});
