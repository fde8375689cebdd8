// What was typed is there again where a command was refused, and nowhere else once it was taken.
import { describe, expect, it } from '@jest/globals';
import type { Outcome } from '../api/outcome.js';
import { ApiProblem } from '../api/problem.js';
import { sent, wrongWith } from './sending.rules.js';

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
    isLost: false,
    isChanged: false,
    send: () => saying(answered),
    settle: () => {
      events.push(`asked with ${String(draft.size)} fields`);
      return saying(known);
    },
    onLost: () => undefined,
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

const CHANGED = new ApiProblem('CHANGED_MEANWHILE', 409, '');
const AWAY = new ApiProblem('SERVICE_AWAY', 502, '');

/** Is a command lost of which this was answered, on the way or while its thing was read before? */
async function isLostAfter(cause: ApiProblem, at: 'still' | 'send' = 'send'): Promise<boolean> {
  let isLost = false;
  const answer = (step: 'still' | 'send') => () => (at === step ? Promise.reject(cause) : Promise.resolve());
  await sent(SAID, {
    isLost,
    isChanged: false,
    still: answer('still'),
    send: () => answer('send')().then(() => 'done' as const),
    settle: (taken) => Promise.resolve(taken),
    onLost: () => {
      isLost = true;
    },
    onTaken: () => undefined,
    forget: () => undefined,
    write: () => undefined,
  }).catch(() => undefined);
  return isLost;
}

describe('a command', () => {
  it.each([
    ['the service is away', AWAY],
    ['the console is away', new ApiProblem('CONSOLE_AWAY', 0, '')],
    ['something on the way answered', new ApiProblem('ANSWER_UNEXPECTED', 504, '')],
  ])('may have arrived where %s', async (_why, cause) => {
    expect(await isLostAfter(cause)).toBe(true);
  });

  it.each([
    ['it was refused', REFUSED],
    ['the session was over', new ApiProblem('SESSION_MISSING', 401, '')],
    ['there were too many', new ApiProblem('TOO_MANY_REQUESTS', 429, '')],
  ])('did not happen where %s, so that its person is held again', async (_why, cause) => {
    expect(await isLostAfter(cause)).toBe(false);
  });

  it('was not sent where its thing could not be read before', async () => {
    expect(await isLostAfter(AWAY, 'still')).toBe(false);
  });
});

describe('a window whose thing changed', () => {
  it('says so and goes no further, where nothing was sent', () => {
    expect(wrongWith(null, true)).toEqual({ wrong: CHANGED, isHeld: true });
    expect(wrongWith(CHANGED, true)).toEqual({ wrong: CHANGED, isHeld: true });
  });

  it.each([AWAY, REFUSED])('says what came of its command above that, and may send it again: $code', (problem) => {
    expect(wrongWith(problem, true)).toEqual({ wrong: problem, isHeld: false });
  });

  it('says nothing of it where nothing changed', () => {
    expect(wrongWith(null, false)).toEqual({ wrong: null, isHeld: false });
    expect(wrongWith(REFUSED, false)).toEqual({ wrong: REFUSED, isHeld: false });
  });
});
