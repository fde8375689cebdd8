// One question about a ceiling as it is read: what its reader may say to it, as edge and decider would let them.
import { describe, expect, it } from '@jest/globals';
import { contractView, entryView } from '@recourse/contract';
import { accessOf } from '@recourse/service';
import type { Caller, Offers, Reads } from '@recourse/service';
import { entrySaid, harness, memoryView } from '@recourse/testing';
import type { CoreHarness } from '@recourse/testing';
import { command, decide, INR, open, recorded, reserve, TENANT } from '../budgets.testing.js';
import { budgetsCore } from '../core.js';
import { EscalationsController } from './escalations.controller.js';

const AGENT = 'agent-7';
const AHEAD = 4_000_000_000_000;

const started = (): CoreHarness =>
  harness(budgetsCore(), { views: { contracts: memoryView(contractView), entries: memoryView(entryView) } }).when(
    open('run', 100),
    AHEAD,
  );
const askedOver = (): CoreHarness => started().when(reserve('a', 500), AHEAD);

/** The only question there is, as somebody reads it. */
async function shownTo(
  desk: CoreHarness,
  subject = 'pia',
  roles: readonly string[] = ['approver', 'budget_owner'],
): Promise<Offers & { readonly lookalikes: unknown; readonly action_digest: unknown }> {
  const entries = memoryView(entryView);
  const body = { agent: AGENT, owner: 'otto', doc: 'd', purpose: 'p', allowed: [], denied: [] };
  entries.append('c', entrySaid('agent_charter', { name: 'c', tenant: TENANT, body }));
  const reads = {
    find: () => Promise.resolve({ ...desk.rows('escalation')[0], partition: 0 }),
    shown: (_caller: Caller, docs: unknown) => Promise.resolve({ docs, sealedFor: null }),
    every: (_caller: Caller, { where }: Parameters<Reads['every']>[1]) =>
      Promise.resolve(
        desk
          .rows('budget')
          .map(({ doc }) => doc)
          .filter((doc) => Object.entries(where).every(([name, value]) => doc[name] === value)),
      ),
  } as unknown as Reads; // what the question asks of them
  const caller = { principal: { subject, tenant: TENANT, roles } } as unknown as Caller; // as far as it is read
  const view = (name: string) => Promise.resolve(name === entryView.name ? entries : null);
  const one = await new EscalationsController(reads, { access: accessOf('budget-accountant'), view }).one(
    caller,
    'esc_1',
    {},
  );
  return one; // as OpenAPI tells it
}
const codes = ({ may, may_not: withheld }: Offers): unknown => [may, withheld.map(({ word, code }) => [word, code])];

describe('a question about a ceiling says to whoever reads it', () => {
  it('who has nothing to do with it that they may let it through, raise the ceiling once, or refuse', async () => {
    expect(codes(await shownTo(askedOver()))).toEqual([['approve', 'raise-once', 'deny'], []]);
  });

  it.each([
    ['who asked', AGENT, 'SELF_APPROVAL'],
    ['who answers for the agent', 'otto', 'SELF_APPROVAL'],
    ['who is no person', 'svc:bot', 'APPROVER_NOT_A_PERSON'],
  ])('%s that they may not let it through', async (_who, subject, code) => {
    const { may, may_not: withheld } = await shownTo(askedOver(), subject);
    expect(withheld.find(({ word }) => word === 'approve')?.code).toBe(code);
    expect(may).toEqual(code === 'SELF_APPROVAL' ? [] : ['deny']);
  });

  it('without the role of those who set ceilings that they may not raise it, and without any that they may say nothing', async () => {
    expect(codes(await shownTo(askedOver(), 'pia', ['approver']))).toEqual([
      ['approve', 'deny'],
      [['raise-once', 'ROLE_REQUIRED']],
    ]);
    const none = ['approve', 'raise-once', 'deny'].map((word) => [word, 'ROLE_REQUIRED']);
    expect(codes(await shownTo(askedOver(), 'pia', ['operator']))).toEqual([[], none]);
    // An administrator decides what nobody answered in time.
    expect(codes(await shownTo(askedOver(), 'ada', ['administrator']))).toEqual([[], none]);
  });

  it('that what has happened may be let stand also after a no, and that nothing is asked once it was', async () => {
    const overrun = started().when(recorded('a', 500), AHEAD);
    expect(codes(await shownTo(overrun))).toEqual([['approve', 'deny'], []]);
    overrun.when(decide('a', false, { principal: 'dana', command_id: 'no' }), AHEAD);
    expect(codes(await shownTo(overrun))).toEqual([['approve'], []]);
    overrun.when(decide('a', true, { principal: 'dana', command_id: 'yes' }), AHEAD);
    expect(codes(await shownTo(overrun))).toEqual([[], []]);
  });

  it('that a proposal of a ceiling which was moved since may only be refused', async () => {
    const move = (ceiling_minor: number, principal: string) =>
      command(
        'MoveCeiling',
        { scope: 'run', scope_id: 'run_1', currency: INR, ceiling_minor },
        { principal, command_id: `${principal}${String(ceiling_minor)}`, roles: ['budget_owner'] },
      );
    const proposed = started().when(move(500, 'dana'), AHEAD);
    expect(codes(await shownTo(proposed))).toEqual([['approve', 'deny'], []]);
    proposed.when(move(50, 'dana'), AHEAD);
    expect(codes(await shownTo(proposed))).toEqual([['deny'], [['approve', 'CEILING_MOVED']]]);
  });

  it('which names read alike, the reader among them, and the digest of what it asks', async () => {
    expect(await shownTo(askedOver(), 'agent-l')).toMatchObject({ lookalikes: [] });
    const shown = await shownTo(started().when(reserve('a', 500, { who: { principal: 'asha' } }), AHEAD), 'a5ha');
    expect(shown).toMatchObject({
      lookalikes: [['a5ha', 'asha']],
      action_digest: expect.stringMatching(/^[0-9a-f]{64}$/u),
    });
  });
});
