import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { WAITING } from '../items.testing.js';
import type { ItemKind, OpenItem } from '../rules/item/item.messages.js';
import { ITEM_KINDS } from '../rules/item/item.messages.js';
import { shownItem } from './items.query.js';

/** The page of the command line is printed from the program itself. */
const COMMANDS = readFileSync('docs/reference/cli.md', 'utf8');

const OPEN: OpenItem = {
  kind: 'manual',
  opening: 'recourse.recoveries/0/7',
  openedAt: 1_000,
  deadlineAt: 11_000,
  reason: 'HIGH_IMPACT',
  owner: 'role:administrator',
  requiredApprovals: 0,
  approvals: 0,
};
const waitingFor = (kind: ItemKind, id: string): string =>
  shownItem({ ...WAITING, id, item: { ...OPEN, kind } }, 0).way_out;

describe('what waits for a person', () => {
  it.each(ITEM_KINDS)('names a command that there is: %s', (kind) => {
    const [, command = ''] = /^(recourse(?: [a-z][a-z-]*)+)(?: |$)/u.exec(waitingFor(kind, 'ID')) ?? [];
    expect(COMMANDS).toContain(`Usage: ${command} [options]`);
    expect(waitingFor(kind, 'ID')).not.toMatch(/[|<>,;]/u);
  });

  it.each([
    ['UNJUDGED', 'review'],
    ['BEYOND_BOUND', 'review'],
    ['SOURCE_UNTRUSTED', 'confirm'],
    ['COMMIT_NOT_MARKED', 'reject'],
  ])('of a rollback names what is asked of it: %s', (reason, verb) => {
    const item = { ...OPEN, kind: 'rollback' as const, reason };
    expect(shownItem({ ...WAITING, id: 'rb_1', item }, 0).way_out).toBe(`recourse rollbacks ${verb} rb_1`);
  });

  it.each([
    ['CONTRACT_UNKNOWN', 'redrive'],
    ['UNKNOWN_SCHEMA', 'redrive'],
    ['UNFRAMED', 'discard'],
    ['TRUNCATED', 'discard'],
    ['TRAILING_BYTES', 'discard'],
    ['REF_RESERVED', 'discard'],
    ['RECORD_TOO_LARGE', 'discard'],
  ])('of a parked record names what works: %s', (reason, verb) => {
    const item = { ...OPEN, kind: 'parked' as const, reason };
    expect(shownItem({ ...WAITING, id: 'pk_1', item }, 0).way_out).toBe(`recourse parked ${verb} pk_1`);
  });

  it('of a run whose id is no plain word stays one word of the shell', () => {
    const item = { ...OPEN, kind: 'window' as const };
    const command = shownItem({ ...WAITING, id: 'mut_1', runId: "a; rm '$HOME'", item }, 0).way_out;
    expect(command).toBe(String.raw`recourse undo 'a; rm '\''$HOME'\''' --mutation mut_1`);
  });

  it('of a budget names the escalation that people decide, not the reservation it is about', () => {
    expect(waitingFor('budget', 'res_1')).toMatch(/^recourse budgets approve esc_[0-9a-f]{32}$/u);
  });

  it.each([
    ['HIGH_IMPACT', 'recourse recoveries approve step_1'],
    ['FACT_CHANGED', 'recourse reviews show step_1'],
  ])('of a question because of %s names what is to be done first', (reason, command) => {
    const item = { ...OPEN, kind: 'approval' as const, reason };
    expect(shownItem({ ...WAITING, id: 'step_1', item }, 0).way_out).toBe(command);
  });

  it.each([
    ['KILL_SWITCH', 'recourse kill-switch list'],
    ['BREAKER_OPEN', 'recourse breakers list'],
  ])('of a step that is halted by %s names where that is lifted', (reason, command) => {
    const item = { ...OPEN, kind: 'halted' as const, reason };
    expect(shownItem({ ...WAITING, id: 'step_1', item }, 0).way_out).toBe(command);
    expect(COMMANDS).toContain(`Usage: ${command} [options]`);
  });

  it.each([
    ['OUTCOME_UNKNOWN', 'recourse recoveries check --purpose reconcile step_1'],
    ['KEY_LIFETIME_OVER', 'recourse recoveries check --purpose reconcile step_1'],
    ['COMPENSATION_FAILED', 'recourse reviews show step_1'],
    ['UNCONTRACTED', 'recourse recoveries resolve step_1'],
  ])('of a step that is for a person because of %s begins with what that takes', (reason, command) => {
    const item = { ...OPEN, kind: 'manual' as const, reason };
    expect(shownItem({ ...WAITING, id: 'step_1', item }, 0).way_out).toBe(command);
  });
});
