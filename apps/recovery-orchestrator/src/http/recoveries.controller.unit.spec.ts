import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { contractView, entryView } from '@recourse/contract';
import { accessOf, EdgeRefusal, parse } from '@recourse/service';
import type { Caller, Reads, ServiceContext } from '@recourse/service';
import { entrySaid, fact, harness } from '@recourse/testing';
import type { ReviewItem } from '../reads/review-item.messages.js';
import type { RecoveryQueries } from '../reads/recovery-queries.js';
import { core, markedInput, views } from '../recoveries.testing.js';
import type { StepDoc } from '../rules/step/step.messages.js';
import { RecoveriesController, reviewQuery } from './recoveries.controller.js';

const CONTRACT = readFileSync('examples/contracts/payments.issue_refund.json', 'utf8');

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
  const [step] = harness(core(), { views: views() }).when(markedInput(), 10_000).rows('step');
  const shownTo = (
    { subject = 'pia', roles = ['approver'] }: { readonly subject?: string; readonly roles?: readonly string[] },
    service: Partial<ServiceContext> = {},
    questions: readonly { readonly phase: string }[] = [],
  ): Promise<ReviewItem> => {
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
    const caller = { principal: { subject, tenant: 'acme', roles } } as unknown as Caller; // as far as it is read
    const context = { access: accessOf('recovery-orchestrator'), ...service };
    const controller = new RecoveriesController(reads, undefined as unknown as RecoveryQueries, null, context);
    return controller.review(caller, 'step_1', {});
  };

  it('names who agreed before the effect, however many questions about it nobody agreed to', async () => {
    const question = (phase: string, by: string) => ({ phase, routine: null, approvals: [{ by }] });
    const questions = [...Array.from({ length: 20 }, () => question('expired', 'nobody')), question('used', 'olga')];
    expect((await shownTo({ roles: ['operator'] }, {}, questions)).action.agreed_by).toEqual(['olga']);
  });

  it('says what its reader may do by the roles of their token, as the table of routes lets in', async () => {
    const { may_not: withheld } = await shownTo({ roles: ['operator'] });
    const message = 'one of the roles approver is needed';
    expect(withheld).toEqual([
      { word: 'approve', code: 'ROLE_REQUIRED', message },
      { word: 'deny', code: 'ROLE_REQUIRED', message },
      expect.objectContaining({ word: 'break-glass', code: 'WINDOW_CLOSED' }), // long after the scenario
      { word: 'abandon', code: 'ROLE_REQUIRED', message: 'one of the roles approver, administrator is needed' },
    ]);
  });

  it('knows who wrote the contract and who owns the agent, from what the service has read of the registry', async () => {
    const { contracts, entries } = views();
    const body = { agent: 'refund-agent', owner: 'otto', doc: 'd', purpose: 'p', allowed: [], denied: [] };
    entries.append('c', entrySaid('agent_charter', { name: 'c', tenant: 'acme', body }));
    const terms = step?.doc['terms'] as StepDoc['terms']; // rows of this kind are steps
    contracts.append(
      'c',
      fact('ContractRegistered', {
        ...{ name: 'payments.issue_refund', tenant: 'acme', version: 1, body: CONTRACT },
        ...{ digest: terms?.contract_digest, registered_by: 'edna', confirmed_by: null },
      }),
    );
    const view: ServiceContext['view'] = (name) =>
      Promise.resolve([contracts, entries][[contractView.name, entryView.name].indexOf(name as never)] ?? null);
    const codesOf = async (subject: string) =>
      (await shownTo({ subject }, { view })).may_not
        .filter(({ word }) => word !== 'break-glass')
        .map(({ word, code }) => [word, code]);
    const both = (code: string) => ['approve', 'abandon'].map((word) => [word, code]);
    expect(await codesOf('otto')).toEqual(both('SELF_APPROVAL'));
    expect(await codesOf('edna')).toEqual(both('EDITOR_APPROVAL'));
    expect(await codesOf('pia')).toEqual([['approve', 'WINDOW_CLOSED']]); // long after the scenario
  });
});
