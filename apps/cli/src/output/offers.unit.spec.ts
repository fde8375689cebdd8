import { describe, expect, it } from '@jest/globals';
import type { Doc } from '@recourse/sdk';
import { describeApproval } from '../commands/approvals.command.js';
import { describeEscalation } from '../commands/budgets.command.js';
import { describeIncident } from '../commands/step-commands.js';
import { describeTask } from '../commands/tasks.command.js';

describe('the text of an item', () => {
  it.each<readonly [string, (item: Doc) => string]>([
    ['a question before an effect', (item) => describeApproval(item, 0)],
    ['a question about a ceiling', describeEscalation],
    ['a task', describeTask],
    ['an incident', describeIncident],
  ])('says what whoever reads an item may do, and why not the rest: %s', (_what, text) => {
    const withheld = { word: 'approve', code: 'SELF_APPROVAL', message: 'Nobody approves their own action.' };
    const said = text({ may: ['deny'], may_not: [withheld] });
    expect(said).toMatch(/you may +deny\n/u);
    expect(said).toMatch(/you may not +approve: SELF_APPROVAL: Nobody approves their own action\./u);
    expect(text({ may: [], may_not: [] })).not.toContain('you may not');
  });
});
