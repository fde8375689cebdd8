import { describe, expect, it } from '@jest/globals';
import { desk, table } from './desk.testing.js';

const PATH = '/v1/mutations/mut_1/settle';
const SETTLED = table({ [`POST ${PATH}`]: { settled_as: 'accepted' } });

describe('a command that needs more than it was given', () => {
  it('asks whoever sits there, with the words to choose from, and sends what they say', async () => {
    const at = desk(SETTLED, { said: 'accepted' });
    expect([await at.call('mutations', 'settle', 'mut_1'), at.note()]).toEqual([0, '']);
    expect(at.questions).toEqual([
      expect.stringMatching(/\(took_effect, not_done, accepted, repaired\): $/u),
      'why, in your words: ',
    ]);
    expect(at.asked).toMatchObject([
      { method: 'POST', pathname: PATH, body: { settled_as: 'accepted', reason: 'accepted' } },
    ]);
  });

  it('asks only for what is missing, and not for what an answer that begins with a dash would name', async () => {
    const at = desk(SETTLED, { said: '--json' });
    expect(await at.call('mutations', 'settle', 'mut_1', '--answer', 'repaired')).toBe(0);
    expect(at.asked).toMatchObject([{ body: { settled_as: 'repaired', reason: '--json' } }]);
  });

  it('refuses what is none of the words, and silence, and sends nothing', async () => {
    for (const said of ['perhaps', ' ']) {
      const at = desk(SETTLED, { said });
      expect([await at.call('mutations', 'settle', 'mut_1'), at.asked]).toEqual([64, []]);
      expect(at.note()).not.toBe('');
    }
  });

  it('asks for the reason of an undo', async () => {
    const at = desk(table({ 'POST /v1/undos': { undo_id: 'undo_1' } }), { said: 'the customer left' });
    expect(await at.call('undo', 'run-1', '--mutation', 'mut_1')).toBe(0);
    expect(at.asked[0]).toMatchObject({
      body: { run_id: 'run-1', mutation_ids: ['mut_1'], reason: 'the customer left' },
    });
  });

  it('asks as well where the command is called by its other name', async () => {
    const at = desk(() => undefined, { said: 'x' });
    await at.call('contract', 'confirm', 'tool');
    expect(at.questions).toHaveLength(1);
  });

  it('asks nobody where nobody sits', async () => {
    const at = desk(SETTLED);
    expect([await at.call('mutations', 'settle', 'mut_1'), at.questions]).toEqual([64, []]);
    expect(at.note()).toContain("required option '--answer");
  });
});
