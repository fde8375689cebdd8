// Whoever decides, whatever about, reads what the run was for and what to work from, and what of that nobody said (C8, C55).
import { describe, expect, it } from '@jest/globals';
import { desk, table } from '../desk.testing.js';

const COMPENSATION = { mode: 'manual_runbook', reason: 'a letter', runbook: 'letters.md', accepted_by: null };
const BRIEF = { objective: 'settle ticket 99', compensation: COMPENSATION, missing: [] };
const BARE = { objective: null, compensation: null, missing: ['objective', 'runbook'] };

describe.each([
  ['a question before an effect', ['approvals', 'show'], '/v1/forward-approvals/x'],
  ['a task', ['tasks', 'show'], '/v1/tasks/x'],
  ['an incident', ['incidents', 'show'], '/v1/incidents/x'],
  ['an escalation of a budget', ['budgets', 'show'], '/v1/escalations/x'],
  ['an effect that is to be settled', ['mutations', 'show'], '/v1/mutations/x'],
] as const)('%s', (_what, command, path) => {
  const shown = async (brief: object): Promise<string> => {
    const { call, out } = desk(table({ [path]: { brief }, [`${path}/uses`]: { items: [] } }));
    expect(await call(...command, 'x')).toBe(0);
    return out();
  };

  it('says what the run is for, and from what a person works', async () => {
    const text = await shown(BRIEF);
    expect(text).toMatch(/objective +settle ticket 99/);
    expect(text).toMatch(/compensated +manual_runbook/);
    expect(text).toMatch(/runbook +letters\.md/);
    expect(text).not.toContain('nobody said');
  });

  it('names what nobody said', async () => {
    expect(await shown(BARE)).toMatch(/nobody said +objective, ?runbook/);
  });
});
