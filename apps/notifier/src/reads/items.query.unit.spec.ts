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
  requiredApprovals: 0,
  approvals: 0,
};
const waitingFor = (kind: ItemKind, id: string): string =>
  shownItem({ ...WAITING, id, item: { ...OPEN, kind } }, 0).way_out;

describe('what waits for a person', () => {
  it.each(ITEM_KINDS)('names a command that there is: %s', (kind) => {
    const [, command = ''] = /^(recourse(?: [a-z][a-z-]*)+)(?: |$)/u.exec(waitingFor(kind, 'ID')) ?? [];
    expect(COMMANDS).toContain(`Usage: ${command} [options]`);
  });

  it('of a budget names the escalation that people decide, not the reservation it is about', () => {
    expect(waitingFor('budget', 'res_1')).toMatch(/^recourse budgets approve esc_[0-9a-f]{32}$/u);
  });
});
