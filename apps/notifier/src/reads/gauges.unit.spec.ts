import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import type { WaitingThing } from '../rules/item/item.messages.js';
import { measureAlarms } from './gauges.js';

const alarm = (log: string): WaitingThing => ({
  ...{ thing: 'alarm', id: `alm-${log}`, tenant: '*', runId: '', recoveryId: null, stepId: null },
  ...{ capability: null, runbook: null, log },
  item: {
    ...{ kind: 'alarm', opening: 'recourse.signed-heads/0/7', openedAt: 1, deadlineAt: 2, reason: 'rewritten' },
    ...{ owner: 'role:auditor', requiredApprovals: 0, approvals: 0 },
  },
});

describe('open alarms of the auditor', () => {
  const measured = async (items: () => Promise<readonly WaitingThing[]>): Promise<readonly unknown[]> => {
    const said: unknown[] = [];
    await measureAlarms(
      { items: (query) => (query.kind === 'alarm' ? items() : Promise.resolve([])) },
      { clear: (name) => said.push(['clear', name]), set: (name, labels, value) => said.push([name, labels, value]) },
    );
    return said;
  };

  it('are told by log and partition, so that an alert rings at the first', async () => {
    const logs = ['recourse.mutations/2', 'recourse.mutations/2', 'recourse.tool-executions/0'];
    expect(await measured(() => Promise.resolve(logs.map(alarm)))).toEqual([
      ['clear', 'alarmsOpen'],
      ['alarmsOpen', { log: 'recourse.mutations', partition: '2' }, 2],
      ['alarmsOpen', { log: 'recourse.tool-executions', partition: '0' }, 1],
    ]);
  });

  it('are told no more once they are closed, nor while nobody can say', async () => {
    expect(await measured(() => Promise.resolve([]))).toEqual([['clear', 'alarmsOpen']]);
    const away = new Failure('DATABASE_UNAVAILABLE', 'away');
    expect(await measured(() => Promise.reject(away))).toEqual([['clear', 'alarmsOpen']]);
  });
});
