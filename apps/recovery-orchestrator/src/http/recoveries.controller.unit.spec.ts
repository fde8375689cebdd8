import { describe, expect, it } from '@jest/globals';
import { EdgeRefusal, parse } from '@recourse/service';
import type { Caller, Reads } from '@recourse/service';
import { harness } from '@recourse/testing';
import type { RecoveryQueries } from '../reads/recovery-queries.js';
import { core, markedInput, views } from '../recoveries.testing.js';
import { RecoveriesController, reviewQuery } from './recoveries.controller.js';

describe('a list of what waits for a person', () => {
  const refusal = (query: object): unknown => {
    try {
      return parse(reviewQuery, query);
    } catch (refused) {
      return refused instanceof EdgeRefusal ? refused.problems : refused;
    }
  };

  it.each([
    ['recovery', 'awaiting_approval'],
    ['recovery', 'denied'],
    ['forward', 'expired'],
    ['forward', 'open'],
  ])('of %s takes %s', (kind, state) => {
    expect(refusal({ kind, state })).toMatchObject({ kind, state });
  });

  it.each([
    [{ state: 'expired' }, /^is "expired", and may be open, held, awaiting_approval, .* or resolved$/u, 'absent'],
    [{ kind: 'forward', state: 'halted' }, /^is "halted", and may be open, absent, .* or expired$/u, 'compensated'],
  ])('%j is told the states that list has, and no other', (query, words, foreign) => {
    const problems = [{ code: 'INVALID_VALUE', path: '/state', message: expect.stringMatching(words) }];
    expect(refusal(query)).toEqual(problems);
    expect(JSON.stringify(refusal(query))).not.toContain(foreign);
  });
});

describe('a step as a person decides about it', () => {
  it('names who agreed before the effect, however many questions about it nobody agreed to', async () => {
    const [step] = harness(core(), { views: views() }).when(markedInput(), 10_000).rows('step');
    const question = (phase: string, by: string) => ({ phase, routine: null, approvals: [{ by }] });
    const questions = [...Array.from({ length: 20 }, () => question('expired', 'nobody')), question('used', 'olga')];
    const reads = {
      find: () => Promise.resolve({ ...step, partition: 0 }),
      shown: (_caller: Caller, docs: unknown) => Promise.resolve({ docs, sealedFor: null }),
      every: (_caller: Caller, { where }: Parameters<Reads['every']>[1], countMax: number) =>
        Promise.resolve(
          questions
            .filter(
              ({ phase }) => where['phase'] === undefined || (where['phase'] as readonly string[]).includes(phase),
            )
            .slice(0, countMax),
        ),
    } as unknown as Reads; // what the review asks of them
    const caller = { principal: { subject: 'pia', tenant: 'acme', roles: ['operator'] } } as unknown as Caller; // as far as it is read
    const controller = new RecoveriesController(reads, undefined as unknown as RecoveryQueries, null, {});
    expect((await controller.review(caller, 'step_1', {})).action.agreed_by).toEqual(['olga']);
  });
});
