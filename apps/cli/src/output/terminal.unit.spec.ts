import { PassThrough } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { answerTo } from './terminal.js';

/** A terminal where raw keys arrive, as where a person sits; Ctrl-C is one of them there. */
function keyboard() {
  const [input, output] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: true })];
  return { input, answer: answerTo('Undo it? [y/N] ', input, output), shown: () => String(output.read() as Buffer) };
}

const DECLINED = { code: 'DECLINED', exit: 'declined', message: expect.stringContaining('nothing was sent') };

describe('a question at the terminal', () => {
  it('gives what is typed', async () => {
    const { input, answer, shown } = keyboard();
    input.write('yes\n');
    expect(await answer).toBe('yes');
    expect(shown()).toContain('Undo it? [y/N] ');
  });

  it.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('is declined by %s: that is no bug', async (_, key) => {
    const { input, answer } = keyboard();
    input.write(key);
    await expect(answer).rejects.toMatchObject(DECLINED);
  });

  it('is declined where the input ends before an answer', async () => {
    const { input, answer } = keyboard();
    input.end('ye');
    await expect(answer).rejects.toMatchObject(DECLINED);
  });
});
