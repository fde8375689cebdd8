import { describe, expect, it } from '@jest/globals';
import { run } from '../program.js';

interface Asked {
  readonly method: string;
  readonly path: string;
}

/** A ledger that answers from a table, a person who answers so, and what came of it. */
function ledger(answers: Readonly<Record<string, object>>, said: string | null = null) {
  const [asked, out, note, questions]: [Asked[], string[], string[], string[]] = [[], [], [], []];
  const fetcher = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const path = new URL(input instanceof Request ? input.url : input).pathname;
    asked.push({ method: init?.method ?? (input instanceof Request ? input.method : 'GET'), path });
    const answer = answers[path];
    return answer === undefined
      ? Promise.reject(new TypeError('fetch failed'))
      : Promise.resolve(Response.json(answer));
  };
  const terminal = {
    out: (text: string) => {
      out.push(text);
    },
    note: (text: string) => {
      note.push(text);
    },
    isInteractive: said !== null,
    ask: (question: string) => {
      questions.push(question);
      return Promise.resolve(said ?? '');
    },
  };
  const call = (...args: readonly string[]): Promise<number> =>
    run(args, {
      terminal,
      environment: { RECOURSE_LEDGER_URL: 'http://ledger.test', RECOURSE_TOKEN: 'secret' },
      folder: '/',
      fetch: fetcher,
    });
  return { call, asked, questions, out: () => out.join('\n'), note: () => note.join('\n') };
}

describe('undo --wait', () => {
  const ended = (outcome: string) =>
    ledger({
      '/v1/undos': { undo_id: 'undo_1' },
      '/v1/undos/undo_1': { undo_id: 'undo_1', outcome, items: [], counts: {} },
    });

  it.each([
    ['undone', 0],
    ['partly_undone', 7],
    ['not_undone', 7],
  ])('tells a script that the whole is %s', async (outcome, code) => {
    const { call, out } = ended(outcome);
    expect(await call('undo', 'run-1', '--reason', 'a mistake', '--wait', '5')).toBe(code);
    expect(out()).toContain(outcome.replaceAll('_', ' '));
  });
});

describe('undo --preview', () => {
  it('shows money as people write it', async () => {
    const item = { mutation_id: 'mut_1', outcome: 'undone', value: { amount_minor: 1_200, currency: 'EUR' } };
    const { call, out } = ledger({ '/v1/runs/run-1/undo-preview': { items: [item], counts: {} } });
    expect(await call('undo', 'run-1', '--preview')).toBe(0);
    expect(out()).toMatch(/12\.00 EUR/);
  });
});

describe('erase', () => {
  const args = ['erase', '--subject', 'customer/7', '--reason', 'they asked for it'];

  it('asks once more, says whose data it is, and does nothing on any other word than yes', async () => {
    const { call, asked, questions } = ledger({ '/v1/erasures': { erased: 1 } }, 'n');
    expect(await call(...args)).toBe(6);
    expect(questions).toEqual([expect.stringMatching(/Destroy the keys of customer\/7 of .* for good/)]);
    expect(asked).toEqual([]);
  });

  it.each([
    ['a person says yes', 'y', []],
    ['the caller said so before', null, ['--yes']],
  ])('erases where %s', async (_who, said, more) => {
    const { call, asked } = ledger({ '/v1/erasures': { erased: 1 } }, said);
    expect(await call(...args, ...more)).toBe(0);
    expect(asked).toEqual([{ method: 'POST', path: '/v1/erasures' }]);
  });

  it('is refused where nobody can answer', async () => {
    const { call, asked, note } = ledger({ '/v1/erasures': { erased: 1 } });
    expect(await call(...args)).toBe(2);
    expect(note()).toContain('--yes');
    expect(asked).toEqual([]);
  });
});
