// What was typed is there again where a command was refused, and nowhere else once it was taken.
import { describe, expect, it } from '@jest/globals';
import type { Outcome } from '../api/outcome.js';
import { ApiProblem } from '../api/problem.js';
import { sent } from './sending.rules.js';

const SAID = { reason: 'paid twice', fields: { reason: 'paid twice', word: 'allow' }, key: 'key-1' };
const TAKEN = { places: ['/api/ledger/v1/commands/cmd_1'] };
const REFUSED = new ApiProblem('STEP_WRONG_PHASE', 409, 'it is over');

/** What became of a command and of its draft: as it was answered, and as it was in the end. */
async function after(answered: Outcome | ApiProblem, known: Outcome | ApiProblem) {
  const events: string[] = [];
  const draft = new Map(Object.entries(SAID.fields));
  const saying = (said: Outcome | ApiProblem): Promise<Outcome> =>
    said instanceof ApiProblem ? Promise.reject(said) : Promise.resolve(said);
  const outcome = await sent(SAID, {
    send: () => saying(answered),
    settle: () => {
      events.push(`asked with ${String(draft.size)} fields`);
      return saying(known);
    },
    onTaken: () => events.push('taken'),
    forget: () => draft.clear(),
    write: (name, text) => draft.set(name, text),
  }).catch((cause: unknown) => cause);
  return { outcome, events, draft: Object.fromEntries(draft) };
}

describe('what was typed for a command', () => {
  it('is forgotten once it is done', async () => {
    expect(await after('done', 'done')).toEqual({ outcome: 'done', events: [], draft: {} });
  });

  it('is kept where it is refused at once', async () => {
    expect(await after(REFUSED, 'done')).toEqual({ outcome: REFUSED, events: [], draft: SAID.fields });
  });

  it('is forgotten as soon as it is taken, also where nobody says what came of it', async () => {
    const events = ['taken', 'asked with 0 fields'];
    expect(await after(TAKEN, 'done')).toEqual({ outcome: 'done', events, draft: {} });
    expect(await after(TAKEN, TAKEN)).toEqual({ outcome: TAKEN, events, draft: {} });
  });

  it('is there again where it was taken and is refused in the end', async () => {
    expect(await after(TAKEN, REFUSED)).toMatchObject({ outcome: REFUSED, draft: SAID.fields });
  });
});
