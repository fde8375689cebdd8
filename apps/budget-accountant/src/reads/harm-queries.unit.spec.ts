import { describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { HarmQueries } from './harm-queries.js';

describe('sums of expected harm', () => {
  it('that a scrape asks for are read by connections that no list waits for', async () => {
    const asked: string[] = [];
    const pool = (name: string): Pool => {
      const query = (text: string) => {
        if (text.startsWith('SELECT') && !text.includes('AS now')) asked.push(name);
        return Promise.resolve({ rows: [] });
      };
      return { query, connect: () => Promise.resolve({ query, release: () => undefined }) } as unknown as Pool; // what reads ask of one
    };
    const queries = new HarmQueries(pool('lists'), pool('sums'));
    await queries.gauge({ set: () => undefined, clear: () => undefined });
    expect(asked).toEqual(['sums', 'sums', 'sums']);
  });
});

describe('what uses the bounds of a question', () => {
  const AGENT = { scope: 'agent', scope_id: 'refund-agent', measure: 'debt', currency: 'EUR', window: 'life' } as const;
  const RUN = { ...AGENT, scope: 'run', scope_id: 'run-1' } as const;
  const BY = { used_minor: 9, asked_minor: 1, ceiling_minor: 9 };

  it('is told of an agent under every spelling of its name, and of a run under its own', async () => {
    const given: unknown[] = [];
    const query = (_text: string, values: readonly unknown[]) => {
      given.push(values);
      return Promise.resolve({ rows: [] });
    };
    const spelt: string[] = [];
    await new HarmQueries({ query } as unknown as Pool).uses(
      {
        tenant: 'acme',
        run_id: 'run-1',
        proposal: null,
        exceeded: [
          { ...AGENT, ...BY },
          { ...RUN, ...BY },
        ],
      },
      7,
      (agent) => {
        spelt.push(agent);
        return Promise.resolve([agent, 'Refund-Agent']);
      },
    );
    expect(given).toEqual([
      expect.arrayContaining(['acme', ['refund-agent', 'Refund-Agent']]),
      expect.arrayContaining(['acme', 'run-1']),
    ]);
    expect(spelt).toEqual(['refund-agent']);
  });
});
