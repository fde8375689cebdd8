import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';

const REPORT = {
  items: [
    {
      tenant: 'acme',
      consumer: 'mailer',
      mode: 'async',
      due: 9,
      acknowledged: 7,
      late: 1,
      overdue: 2,
      waiting: 0,
      p50_ms: 40,
      p99_ms: 6_000,
      commit_to_user_ms: 5_000,
      late_emissions: 0,
      misfit: true,
      why: 'SLOWER_THAN_ITS_USERS',
      advice: 'sync',
    },
    {
      tenant: 'acme',
      consumer: 'gate',
      mode: 'sync',
      due: 1,
      acknowledged: 1,
      late: 0,
      overdue: 0,
      waiting: 0,
      p50_ms: 12,
      p99_ms: 12,
      commit_to_user_ms: 0,
      late_emissions: 0,
      misfit: false,
      why: null,
      advice: null,
    },
  ],
  more: false,
};
/** Nobody of it has answered yet; and nothing was due. */
const SILENT = { ...REPORT.items[1], consumer: 'report', acknowledged: 0, waiting: 1 };
const UNDUE = { ...SILENT, consumer: 'idle', due: 0, waiting: 0 };
const DELIVERY = {
  tenant: 'acme',
  consumer: 'mailer',
  mutation_id: 'mut_1',
  run_id: 'run-1',
  mode: 'async',
  phase: 'overdue',
  rolled_back_at: 0,
  owner: 'role:administrator',
  deadline_at: 86_400_000,
  answer: null,
};
const ANSWERED = { ...DELIVERY, phase: 'acknowledged', answer: { after_ms: 55 } };
const FELL = {
  items: [
    {
      tenant: 'acme',
      agent_id: 'agent-1',
      run_id: 'run-1',
      commit_id: 'mut_1',
      subject_ref: 'order/4711',
      rollback_id: 'rb_1',
      rolled_back_at: 0,
      consumers: ['mailer'],
    },
  ],
  after: 'W1swLDddXQ',
  more: false,
};

const ledger = (answers: Readonly<Record<string, object>>) => desk(table(answers));

describe('consumers', () => {
  it('shows who is too slow for its users, and which mode would fit', async () => {
    const { call, paths, out } = ledger({ '/v1/reports/consumers': REPORT });
    expect(await call('consumers', '--consumer', 'mailer', '--tenant', 'acme')).toBe(0);
    const [, mailer, gate] = out().split('\n');
    expect(mailer).toMatch(
      /^mailer +acme +async +9 +7 +1 +2 +40 ms +6 s +5 s +0 +no: SLOWER_THAN_ITS_USERS; subscribe with mode sync$/,
    );
    expect(gate).toMatch(/^gate +acme +sync .* yes$/);
    expect(paths()).toEqual(['/v1/reports/consumers?consumer=mailer&tenant=acme&limit=200']);
    const silent = ledger({ '/v1/reports/consumers': { items: [SILENT, UNDUE], more: false } });
    expect(await silent.call('consumers')).toBe(0);
    expect(silent.out()).toMatch(/report .* no answer yet\nidle .* -$/);
  });
});

describe('deliveries', () => {
  it('shows who has not answered, who looks after it, and by when', async () => {
    const refused = { code: 'ACK_MALFORMED', detail: 'an instant is none', at: 5 };
    const { call, paths, out } = ledger({
      '/v1/deliveries': { items: [{ ...DELIVERY, refused }, ANSWERED], next_cursor: null },
    });
    expect(await call('deliveries', '--phase', 'overdue', '--run', 'run-1')).toBe(0);
    const [, silent, answered] = out().split('\n');
    expect(silent).toMatch(
      /^- +mailer +acme +mut_1 +run-1 +async +overdue +1970-01-01 00:00:00Z +- +ACK_MALFORMED: an instant is none +role:administrator +1970-01-02 00:00:00Z$/,
    );
    expect(answered).toMatch(/acknowledged +1970-01-01 00:00:00Z +55 ms +- +- +-$/);
    expect(paths()[0]).toMatch(/^\/v1\/deliveries\?.*phase=overdue/);
  });

  it('is refused with a phase that there is not', async () => {
    expect(await ledger({}).call('deliveries', '--phase', 'lost')).not.toBe(0);
  });
});

describe('a consumer that nobody has heard of', () => {
  const nobody = () =>
    ledger({
      '/v1/deliveries': { items: [], next_cursor: null },
      '/v1/reports/consumers': { items: [], more: false },
    });

  it.each(['consumers', 'deliveries'])('is told from one that owes nothing: recourse %s', async (command) => {
    const { call, out, note } = nobody();
    expect(await call(command, '--consumer', 'nope')).toBe(0);
    expect([out(), note()]).toEqual([
      'none',
      'nothing is due or was due of a consumer named nope: recourse entry list subscription shows the names',
    ]);
  });

  it.each([
    [['deliveries', '--consumer', 'nope', '--json']],
    [['consumers', '--consumer', 'nope', '--json']],
    [['deliveries', '--consumer', 'mailer', '--phase', 'overdue']],
    [['deliveries', '--consumer', 'mailer', '--run', 'run-1']],
    [['deliveries', '--consumer', 'mailer', '--mutation', 'mut_1']],
    [['deliveries']],
    [['consumers']],
  ])('is not said of %j', async (args) => {
    const { call, note } = nobody();
    expect([await call(...args), note()]).toEqual([0, '']);
  });
});

describe('rolled-back', () => {
  it('shows what fell in a scope, and how to go on', async () => {
    const { call, paths, out } = ledger({ '/v1/rolled-back': FELL });
    expect(await call('rolled-back', '--scope', 'acme/agent-1', '--after', 'W10')).toBe(0);
    expect(out()).toMatch(/mut_1 +acme +agent-1 +run-1 +order\/4711 +rb_1 .* mailer\n\nnext time: --after W1swLDddXQ$/);
    expect(paths()).toEqual(['/v1/rolled-back?scope=acme%2Fagent-1&after=W10&limit=200']);
    const scripts = ledger({ '/v1/rolled-back': FELL });
    await scripts.call('rolled-back', '--json');
    expect(JSON.parse(scripts.out())).toEqual(FELL);
  });
});
