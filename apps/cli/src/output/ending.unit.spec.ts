import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { describe, expect, it, jest } from '@jest/globals';
import { endProcess, endUnread } from './ending.js';

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
  const before = [process.stdout, process.stderr].map((stream) => stream.listeners('error'));
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
    process.stdout.emit('error', unread());
    process.stderr.emit('error', unread());
  } finally {
    jest.restoreAllMocks();
    for (const [at, stream] of [process.stdout, process.stderr].entries())
      for (const added of stream.listeners('error').filter((one) => before[at]?.includes(one) !== true))
        stream.removeListener('error', added as () => void);
  }
  expect([codes, said.join('').trimEnd().endsWith('A bug.')]).toEqual([[0, 141], true]);
});

/** What a stream says of a reader that has left. */
function unread(): Error {
  return Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });
}

describe('a reader that has left', () => {
  /** A process that says much on both of its streams, and whoever reads `closed` leaves at once. */
  async function leaving(closed: 'stdout' | 'stderr', { isWatching = true } = {}) {
    const module = pathToFileURL(resolve('apps/cli/src/output/ending.ts')).href;
    const child = spawn(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      '--input-type=module',
      '--eval',
      `import { endProcess, endUnread } from '${module}';
       ${isWatching ? 'endUnread();' : ''}
       await new Promise((go) => process.stdin.once('end', go).resume());
       for (const stream of [process.stderr, process.stdout])
         stream.write(stream === process.${closed} ? 'much'.repeat(1_000_000) : 'said');
       await endProcess(3);`,
    ]);
    const said = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const)
      child[name].on('data', (chunk: Buffer) => {
        said[name] += chunk.toString();
      });
    const ended = once(child, 'close');
    child[closed].destroy();
    child.stdin.end();
    const [code] = (await ended) as [number];
    return { code, stdout: said.stdout, stderr: said.stderr };
  }

  it('ends the call without a word, with the code that a shell knows', async () => {
    expect(await leaving('stdout')).toEqual({ code: 141, stdout: '', stderr: 'said' });
  });

  it('misses what is said beside the answer, and no more', async () => {
    expect(await leaving('stderr')).toEqual({ code: 3, stdout: 'said', stderr: '' });
  });

  it('would end the process with a stack where nobody looks for it', async () => {
    const { code, stderr } = await leaving('stdout', { isWatching: false });
    expect([code, stderr]).toEqual([1, expect.stringContaining('write EPIPE')]);
  });

  it('is heard of before the call ends with a code of its own', async () => {
    const codes: number[] = [];
    const ending = { streams: [slow([], unread())], exit: (code: number) => void codes.push(code) };
    endUnread(ending);
    ending.streams[0]?.write('an answer');
    await endProcess(0, ending);
    expect(codes[0]).toBe(141);
  });

  it('is told apart from a stream that breaks', () => {
    const stream = new Writable();
    endUnread({ streams: [stream], exit: () => undefined });
    expect(() => stream.emit('error', new Error('ENOSPC'))).toThrow('ENOSPC');
  });
});
