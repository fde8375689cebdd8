// A list of what is an agent's own finds it however its name is spelt, without looking through other agents' names.
import { describe, expect, it } from '@jest/globals';
import type { Reads } from '@recourse/service';
import { namesGroup } from '../rows/names.rows.js';
import { spellingsOf } from './spellings.query.js';

const NAMES = [
  { tenant: 'acme', name: 'Refund-Agent' },
  { tenant: 'acme', name: 'AGENT:other' },
  { tenant: 'globex', name: 'user:Agent:REFUND-agent' },
];

type Query = Parameters<Reads['every']>[1];

function spellings(agent: string, tenant: string, named?: string) {
  const asked: Query[] = [];
  const reads = {
    every: (_caller: unknown, query: Query) => {
      asked.push(query);
      const { group_key } = query.where;
      return Promise.resolve(NAMES.filter((row) => group_key === undefined || group_key === namesGroup(row)));
    },
  };
  const caller = { principal: { subject: 'ada', tenant, roles: ['administrator'] } };
  return spellingsOf(reads, caller, agent, named).then((found) => ({ found, asked }));
}

describe('the spellings of an agent', () => {
  it.each(['refund-agent', 'REFUND-AGENT', 'agent:Refund-Agent'])(
    'are those under which it stands, as it is usually spelt, and as it is spelt here: %s',
    async (agent) => {
      const { found, asked } = await spellings(agent, 'acme');
      expect(new Set(found)).toEqual(
        new Set([agent, 'refund-agent', 'agent:refund-agent', 'user:refund-agent', 'Refund-Agent']),
      );
      expect(asked).toMatchObject([{ where: { group_key: namesGroup({ tenant: 'acme', name: 'refund-agent' }) } }]);
    },
  );

  it('are those of every tenant where all are asked about, and of one that is named', async () => {
    const { found } = await spellings('refund-agent', '*');
    expect(found).toEqual(expect.arrayContaining(['Refund-Agent', 'user:Agent:REFUND-agent']));
    expect(found).not.toContain('AGENT:other');
    expect((await spellings('refund-agent', '*', 'globex')).found).not.toContain('Refund-Agent');
  });
});
