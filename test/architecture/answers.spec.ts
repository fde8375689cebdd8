// What the OpenAPI documents say that routes answer: all of them say it, and what they do not say is found.
import { describe, expect, it } from '@jest/globals';
import { ToldAnswers } from '@recourse/testing';

const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant', 'notifier'];
/** Routes of all documents together: none is lost without a word. */
const ROUTES_MIN = 140;

describe('the document of a service', () => {
  it.each(SERVICES)('says of every route what it answers: %s', (service) => {
    expect(new ToldAnswers(service).untold).toEqual([]);
  });

  it('has every route', () => {
    const routes = SERVICES.flatMap((service) => new ToldAnswers(service).routes);
    expect(routes.length).toBeGreaterThanOrEqual(ROUTES_MIN);
  });
});

describe('an answer', () => {
  const told = new ToldAnswers('recovery-orchestrator');
  const recovery = {
    ...{ recovery_id: 'rec_1', tenant: 'acme', run_id: 'run-1', phase: 'open', outcome: null, owner: 'role:approver' },
    ...{ deadline_at: null, opened_at: 1, updated_at: 1 },
  };
  const problemsOf = (row: object, path = '/v1/recoveries?limit=1') =>
    told.problemsOf({ method: 'GET', path, status: 200, body: { items: [row], next_cursor: null } });

  it('that is as it is told has no problems, and is counted once it holds something', () => {
    expect(problemsOf(recovery)).toEqual([]);
    told.problemsOf({ method: 'GET', path: '/v1/tasks', status: 200, body: { items: [], next_cursor: null } });
    expect([...told.seen]).toEqual([['GET /v1/recoveries', 1]]);
  });

  it.each([
    ['holds a member that nobody tells of', { ...recovery, mood: 'fine' }],
    ['lacks one that is told', { ...recovery, owner: undefined }],
    ['holds a word of no enumeration', { ...recovery, phase: 'ajar' }],
    ['is null where nothing says so', { ...recovery, run_id: null }],
  ])('that %s is found', (_what, row) => {
    expect(problemsOf(JSON.parse(JSON.stringify(row)) as object)).toHaveLength(1);
  });

  it('of a route that is in no document is found, and a refusal is none', () => {
    expect(problemsOf(recovery, '/v1/moods')).toEqual(['no route GET /v1/moods']);
    expect(told.problemsOf({ method: 'GET', path: '/v1/moods', status: 404, body: {} })).toEqual([]);
  });
});
