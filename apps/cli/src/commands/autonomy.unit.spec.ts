import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';

const SIGNAL = {
  signal: 'eval_score',
  weight_percent: 20,
  stated_ppm: 850_000,
  value_ppm: 850_000,
  source: 'critic',
  event_id: 'e',
  stated_at: 0,
};
const ROW = {
  autonomy_id: 'aut_1',
  tenant: 'acme',
  agent_id: 'agent-7',
  task_kind: 'refund_order',
  rung: 'draft',
  capped_by: 'violation',
  earned: 'execute_with_approval',
  score_ppm: 710_000,
  frozen_by: null,
  frozen_at: null,
  held_until: 3_600_000,
  reconsider_at: 3_600_000,
  policy_version: 2,
  signals: [
    SIGNAL,
    {
      ...SIGNAL,
      signal: 'task_risk',
      weight_percent: -10,
      stated_ppm: null,
      value_ppm: 1_000_000,
      source: null,
      stated_at: null,
    },
  ],
};
const CHANGE = {
  decided_at: 60_000,
  cause: 'violation',
  signal: null,
  mutation_id: null,
  by: null,
  source: 'critic',
  before: 'execute_with_approval',
  rung: 'draft',
  capped_by: 'violation',
  score_ppm: 710_000,
};
const ANSWERS = {
  '/v1/autonomy': { items: [ROW], next_cursor: null },
  '/v1/autonomy/aut_1': ROW,
  '/v1/autonomy-changes': {
    items: [CHANGE, { ...CHANGE, decided_at: 0, cause: 'signal', signal: 'eval_score' }],
    next_cursor: null,
  },
};

describe('autonomy', () => {
  it('show lists how far agents may go alone and what holds them', async () => {
    const { call, out, asked } = desk(table(ANSWERS));
    expect(await call('autonomy', 'show', '--agent', 'agent-7', '--task', 'refund_order')).toBe(0);
    const [head, row] = out().split('\n');
    expect(head).toMatch(/^AUTONOMY +TENANT +AGENT +TASK +RUNG +HELD BY +EARNED +SCORE +FROZEN$/);
    expect(row).toMatch(/^aut_1 +acme +agent-7 +refund_order +draft +violation +execute_with_approval +0\.71 +-$/);
    expect(asked[0]?.path).toContain('agent_id=agent-7&task_kind=refund_order');
  });

  it('explain shows each signal with its weight and what it adds, and how the rung came about', async () => {
    const { call, out } = desk(table(ANSWERS));
    expect(await call('autonomy', 'explain', 'aut_1')).toBe(0);
    expect(out()).toMatch(/^eval_score +0\.85 +0\.85 +0\.20 +0\.17 +critic +1970-01-01 00:00:00Z$/m);
    expect(out()).toMatch(/^task_risk +- +1 +-0\.10 +-0\.1 +- +-$/m);
    expect(out()).toMatch(/^held by +violation$/m);
    const lines = out().split('\n');
    expect(lines.findIndex((line) => line.includes('00:00:00Z  signal'))).toBeLessThan(
      lines.findIndex((line) => line.includes('00:01:00Z  violation')),
    );
  });

  it.each(['freeze', 'unfreeze'])('%s says why', async (verb) => {
    const { call, asked } = desk(table({ [`POST /v1/autonomy/aut_1/${verb}`]: { rung: 'draft' } }));
    await call('autonomy', verb, 'aut_1', '--reason', 'looked into it');
    expect(asked).toMatchObject([{ path: `/v1/autonomy/aut_1/${verb}`, body: { reason: 'looked into it' } }]);
  });
});
