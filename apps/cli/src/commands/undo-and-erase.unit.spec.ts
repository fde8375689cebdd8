import { describe, expect, it } from '@jest/globals';
import { systemClock } from '@recourse/sdk';
import type { Clock } from '@recourse/sdk';
import { desk, table } from '../desk.testing.js';
import type { Respond } from '../desk.testing.js';

const ledger = (answers: Readonly<Record<string, object>>, said: string | null = null) =>
  desk(table(answers), { said });

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
    ['nothing_to_undo', 7],
  ])('tells a script that the whole is %s', async (outcome, code) => {
    const { call, out } = ended(outcome);
    expect(await call('undo', 'run-1', '--reason', 'a mistake', '--wait', '5')).toBe(code);
    expect(out()).toContain(outcome.replaceAll('_', ' '));
  });
});

describe('an undo that is not waited for', () => {
  const args = ['undo', 'run-1', '--reason', 'a mistake'];
  const accepted = () => ledger({ '/v1/undos': { undo_id: 'undo_1', run_id: 'run-1' } });

  it('says that it is opened and not done, and how it is followed', async () => {
    const { call, out } = accepted();
    expect(await call(...args)).toBe(0);
    expect(out()).toMatch(/^state +opened, not done$/mu);
    expect(out()).toContain('See what becomes of it: recourse undos show undo_1');
  });

  it('tells a script that it is opened', async () => {
    const { call, out } = accepted();
    expect(await call(...args, '--json')).toBe(0);
    expect(JSON.parse(out())).toEqual({ undo_id: 'undo_1', run_id: 'run-1', state: 'opened' });
  });
});

describe('undo --wait of what is not undone and a person has', () => {
  const item = { mutation_id: 'mut_1', outcome: 'not_undone', step_id: 'step_1', reason: 'UNCONTRACTED' };
  const report = { undo_id: 'undo_1', run_id: 'run-1', outcome: 'partly_undone', counts: {} };
  const step = {
    step_id: 'step_1',
    phase: 'manual',
    owner: 'role:approver',
    deadline_at: Date.parse('2030-05-02T10:00:00Z'),
  };
  const answered = (waits_for: string | null) =>
    ledger({
      '/v1/undos': { undo_id: 'undo_1' },
      '/v1/undos/undo_1': { ...report, items: [{ ...item, waits_for }] },
      '/v1/steps': { items: [step] },
    });
  const args = ['undo', 'run-1', '--reason', 'a mistake', '--wait', '5'];

  it('tells a script that it is open, and a person who has it until when', async () => {
    const { call, out } = answered('person');
    expect(await call(...args)).toBe(5);
    expect(out()).toMatch(/UNCONTRACTED +a person +role:approver +2030-05-02 10:00:00Z/u);
  });

  it('has ended once they have said how it ended', async () => {
    const { call, out } = answered(null);
    expect(await call(...args)).toBe(7);
    expect(out()).not.toContain('role:approver');
  });
});

describe('undo --wait, while it lasts', () => {
  const counts = [
    { still_open: 2, undone_clean: 0 },
    { still_open: 2, undone_clean: 0 },
    { still_open: 1, undone_clean: 1 },
    { still_open: 0, undone_clean: 2 },
  ];
  const clock: Clock = { ...systemClock, sleep: () => Promise.resolve() };
  const settling = () => {
    let reads = 0;
    const respond: Respond = ({ pathname, method }) => {
      if (method === 'POST') return Response.json({ undo_id: 'undo_1' });
      if (pathname !== '/v1/undos/undo_1') return undefined;
      const now = counts[Math.min(reads, counts.length - 1)];
      reads += 1;
      const outcome = now?.still_open === 0 ? 'undone' : 'still_open';
      return Response.json({ undo_id: 'undo_1', outcome, items: [], counts: now });
    };
    return desk(respond, { clock });
  };
  const args = ['undo', 'run-1', '--reason', 'a mistake', '--wait', '30'];

  it('says in a line how its effects stand, whenever that changes', async () => {
    const { call, note } = settling();
    expect(await call(...args)).toBe(0);
    expect(note().split('\n')).toEqual([
      'undo undo_1: 2 still open',
      'undo undo_1: 1 still open, 1 undone clean',
      'undo undo_1: 2 undone clean',
    ]);
  });

  it('says nothing beside the report where a script reads it', async () => {
    const { call, note, out } = settling();
    expect(await call(...args, '--json')).toBe(0);
    expect([note(), JSON.parse(out())]).toEqual(['', expect.objectContaining({ outcome: 'undone' })]);
  });
});

describe('undo of a run without effects', () => {
  const args = ['undo', 'nope', '--reason', 'a mistake'];
  const of = (preview: object, more: Readonly<Record<string, object>> = {}) =>
    ledger({
      '/v1/undos': { undo_id: 'undo_1' },
      '/v1/runs/nope/undo-preview': preview,
      ...more,
    });

  it('is taken, and says that none is on record, so that whoever mistyped it looks again', async () => {
    const { call, note, out, paths } = of({ items: [] });
    expect(await call(...args)).toBe(0);
    expect(out()).toContain('opened');
    expect(note()).toContain('no effect of run nope is on record for this tenant: look at the id');
    expect(paths()).toEqual(['/v1/undos', '/v1/runs/nope/undo-preview']);
  });

  it('gives a script the answer alone', async () => {
    const { call, out } = of({ items: [] });
    expect(await call(...args, '--json')).toBe(0);
    expect(JSON.parse(out())).toEqual({ undo_id: 'undo_1', state: 'opened' });
  });

  it.each([
    ['the run has effects', of({ items: [{ mutation_id: 'mut_1' }] })],
    ['the answer does not say', of({})],
    ['nobody answers', ledger({ '/v1/undos': { undo_id: 'undo_1' } })],
  ])('says nothing where %s', async (_, { call, note, out }) => {
    expect(await call(...args)).toBe(0);
    expect([note(), out()]).toEqual(['', expect.stringContaining('opened')]);
  });
});

describe('an undo for one tenant', () => {
  const at = () =>
    ledger({
      '/v1/undos': { undo_id: 'undo_1' },
      '/v1/undos/undo_1': { undo_id: 'undo_1', outcome: 'undone', items: [], counts: {} },
      '/v1/runs/run-1/undo-preview': { items: [], counts: {} },
    });
  const why = ['--reason', 'a mistake'];

  it.each([
    [
      ['undo', 'run-1', ...why],
      ['/v1/undos', '/v1/runs/run-1/undo-preview?tenant=acme'],
    ],
    [
      ['undo', 'run-1', ...why, '--wait', '5'],
      ['/v1/undos', '/v1/undos/undo_1?tenant=acme'],
    ],
    [
      ['undo', 'run-1', '--preview', '--mutation', 'mut_1'],
      ['/v1/runs/run-1/undo-preview?tenant=acme&mutation_id=mut_1'],
    ],
    [['undos', 'show', 'undo_1'], ['/v1/undos/undo_1?tenant=acme']],
  ])('touches and shows no run of that name of another: %j', async (args, paths) => {
    const { call, asked } = at();
    expect(await call('--tenant', 'acme', ...args)).toBe(0);
    expect(asked.map(({ path }) => path)).toEqual(paths);
    for (const { method, body } of asked)
      if (method === 'POST') expect(body).toMatchObject({ run_id: 'run-1', tenant: 'acme' });
  });

  it('is previewed where no path can name the run', async () => {
    const { call, asked } = ledger({ '/v1/runs/in-query/undo-preview': { items: [], counts: {} } });
    expect(await call('--tenant', 'acme', 'undo', '..', '--preview')).toBe(0);
    expect(asked.map(({ path }) => path)).toEqual(['/v1/runs/in-query/undo-preview?tenant=acme&run_id=..']);
  });

  it('is of the tenant of the token where none is named', async () => {
    const { call, asked } = at();
    expect(await call('undo', 'run-1', ...why)).toBe(0);
    expect(asked.map(({ path }) => path)).toEqual(['/v1/undos', '/v1/runs/run-1/undo-preview']);
    expect(asked[0]?.body).not.toHaveProperty('tenant');
  });
});

describe('undos show', () => {
  const open = {
    mutation_id: 'mut_1',
    outcome: 'still_open',
    step_id: 'step_1',
    waits_for: 'recovery',
    reason: 'UNDO',
  };
  const report = {
    undo_id: 'undo_1',
    run_id: 'run-1',
    tenant: 'acme',
    outcome: 'still_open',
    items: [open],
    counts: {},
  };
  const step = {
    step_id: 'step_1',
    phase: 'awaiting_approval',
    owner: 'role:approver',
    deadline_at: Date.parse('2030-05-02T10:00:00Z'),
  };

  it('says of an open effect what it waits for, who has it and until when', async () => {
    const { call, out } = ledger({ '/v1/undos/undo_1': report, '/v1/steps': { items: [step] } });
    expect(await call('undos', 'show', 'undo_1')).toBe(0);
    expect(out()).toMatch(/UNDO +approval +role:approver +2030-05-02 10:00:00Z/u);
  });

  it('says of a retry when it comes, where nothing else ends it', async () => {
    const retrying = { ...step, phase: 'retrying', deadline_at: null, due_at: Date.parse('2030-05-02T11:00:00Z') };
    const { call, out } = ledger({ '/v1/undos/undo_1': report, '/v1/steps': { items: [retrying] } });
    expect(await call('undos', 'show', 'undo_1')).toBe(0);
    expect(out()).toMatch(/a retry +role:approver +2030-05-02 11:00:00Z/u);
  });

  it('says what the ledger knows where nobody tells of the step', async () => {
    const { call, out, note } = ledger({ '/v1/undos/undo_1': report });
    expect(await call('undos', 'show', 'undo_1')).toBe(0);
    expect(out()).toContain('its recovery');
    expect(note()).toContain('does not say who has what is open');
  });
});

describe('undos list', () => {
  it('says how each undo ended', async () => {
    const { call, out } = ledger({ '/v1/undos': { items: [{ undo_id: 'undo_1', outcome: 'partly_undone' }] } });
    expect(await call('undos', 'list')).toBe(0);
    expect(out()).toMatch(/OUTCOME[^]*partly undone/u);
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
    expect(asked.map(({ method, path }) => `${method} ${path}`)).toEqual(['POST /v1/erasures']);
  });

  it('says so where no key was there: a mistyped name would count as done', async () => {
    const none = ledger({ '/v1/erasures': { keys_destroyed: 0 } });
    expect(await none.call(...args, '--yes')).toBe(0);
    expect(none.note()).toContain('no key was there');
    const one = ledger({ '/v1/erasures': { keys_destroyed: 1 } });
    expect([await one.call(...args, '--yes'), one.note()]).toEqual([0, '']);
  });

  it.each(['2030-02-31', '2030-05-01T00:00:00', 'May 1 2030', '2030', '1893456000000'])(
    'erases nothing by %s, which names no instant or not the same everywhere',
    async (text) => {
      const { call, asked, note } = ledger({ '/v1/erasures': { keys_destroyed: 1 } });
      expect(await call('erase', '--ended-by', text, '--reason', 'r', '--yes')).toBe(64);
      expect(note()).toMatch(/^TIME_INVALID: .* is no time[^]*2026-11-30T00:00:00Z/u);
      expect(asked).toEqual([]);
    },
  );

  it('erases what ended by a day, which begins in UTC', async () => {
    const { call, asked } = ledger({ '/v1/erasures': { keys_destroyed: 1 } });
    expect(await call('erase', '--ended-by', '2026-11-01', '--reason', 'r', '--yes')).toBe(0);
    expect(asked[0]?.body).toMatchObject({ ended_by: Date.parse('2026-11-01T00:00:00Z') });
  });

  it('is refused where nobody can answer', async () => {
    const { call, asked, note } = ledger({ '/v1/erasures': { erased: 1 } });
    expect(await call(...args)).toBe(64);
    expect(note()).toContain('--yes');
    expect(asked).toEqual([]);
  });
});
