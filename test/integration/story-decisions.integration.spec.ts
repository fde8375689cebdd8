// Takes a recovered run of a real stack away with what its decisions were made from, and makes them again offline (D58): as they were, with
// the packet changed, and under a tighter ceiling and another policy.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cli, put } from './guide.testing.js';
import type { Ran } from './guide.testing.js';
import { rehearse } from './rehearsal.testing.js';
import type { Rehearsal } from './rehearsal.testing.js';
import { EDITOR, TENANT } from './system.testing.js';
import type { Facts, Person } from './system.testing.js';

const READER: Person = { subject: 'vera', roles: ['payload_reader', 'auditor'], tenant: TENANT };
const RUN = 'run-decided';
const rule = { name: 'large', when: 'mutation.amount_minor > 1000', approval: 'human', reason: 'much money' };
const bundle = (...recovery: readonly object[]): Facts => ({
  owner: 'otto',
  doc: 'Of refunds.',
  admission: [],
  recovery,
});

interface Packed {
  readonly decisions: {
    readonly settings: Record<string, Record<string, string>>;
    readonly pins: { input: { source: string; value: string } }[];
    readonly unpinned: readonly { readonly why: string }[];
  };
}
interface Replay {
  readonly outcome: string;
  readonly decisions: readonly { readonly type: string; readonly outcome: string; readonly code: string | null }[];
  readonly counterfactual: { readonly outcome: string; readonly at: string; readonly why: readonly string[] } | null;
}

let rehearsal: Rehearsal;
let told: Ran;
beforeAll(async () => {
  rehearsal = await rehearse();
  const { system, folder } = rehearsal;
  const register = async (path: string, body: object): Promise<void> => {
    const { status, body: said } = await system.post('registry', path, body, { person: EDITOR, key: `${path} again` });
    if (status >= 300) throw new Error(JSON.stringify(said));
  };
  await register('/v1/entries/policy_bundle', { name: 'refunds', entry: bundle(rule) });
  const contract = JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as Facts;
  await register('/v1/contracts', { ...contract, version: undefined, recovery_policy_ref: 'refunds' });
  await rehearsal.refund(RUN, 'decided');
  await rehearsal.agree(await rehearsal.contradict(RUN, 'decided'));
  put(folder, 'settings.env', '# As the stack sets them.\nRECOURSE_LEASE_MS=5000\n');
  put(folder, 'same.json', bundle({ ...rule, when: 'mutation.amount_minor > 2000' }));
  put(folder, 'stricter.json', bundle({ ...rule, approval: 'dual_control' }));
  told = await recourse('story', RUN, '--packet', 'run.json', '--decisions', '--settings', 'settings.env');
}, 400_000);
afterAll(async () => {
  await rehearsal.stop();
}, 60_000);

const recourse = (...args: readonly string[]): Promise<Ran> =>
  cli(rehearsal.system, READER, rehearsal.folder, 'audit', ...args);
async function replayed(...args: readonly string[]): Promise<Replay & { readonly code: number }> {
  const { code, out } = await recourse('replay-story', ...args, '--json');
  return { ...(JSON.parse(out) as Replay), code };
}
const packet = (): Packed => JSON.parse(readFileSync(join(rehearsal.folder, 'run.json'), 'utf8')) as Packed;

describe('a recovered run, taken away with its decisions', () => {
  it('is decided again offline: equal to the byte, or said why not', async () => {
    expect([told.code, told.note]).toEqual([
      0,
      expect.stringMatching(/^\d+ decisions are pinned, \d+ records are not\./),
    ]);
    const { outcome, decisions, code } = await replayed('run.json');
    expect([outcome, code]).toEqual(['incomplete', 8]);
    const made = decisions.filter(({ outcome: one }) => one === 'equal').map(({ type }) => type);
    expect(made).toEqual(
      expect.arrayContaining([
        'BudgetReserved',
        'BudgetSettled',
        'RecoveryPlanned',
        'FactsAsked',
        'StepApproved',
        'BudgetRefunded',
      ]),
    );
    expect(decisions.filter(({ outcome: one }) => one === 'differs')).toEqual([]);
    // What a worker saw is sealed in the log, and told by nothing else.
    expect(decisions.filter(({ type }) => type === 'LegSettled').map(({ code: why }) => why)).toEqual([
      'payload_sealed',
    ]);
    expect([...new Set(packet().decisions.unpinned.map(({ why }) => why))]).toEqual(['payload_sealed']);
  });

  it('still tells its story, and holds nothing of a payload that a wire held in clear', async () => {
    expect((await recourse('check-story', 'run.json')).code).toBe(8);
    const wires = packet().decisions.pins.flatMap(({ input }) => (input.source === 'wire' ? [input.value] : []));
    expect(wires.length).toBeGreaterThan(2);
    expect(wires.filter((value) => Buffer.from(value, 'base64').includes('settled'))).toEqual([]);
  });

  it('is found to differ where an input or a setting was changed', async () => {
    const changed = async (change: (copy: Packed) => void): Promise<readonly (number | string | null)[]> => {
      const copy = packet();
      change(copy);
      put(rehearsal.folder, 'changed.json', copy);
      const { code, decisions } = await replayed('changed.json');
      return [code, ...new Set(decisions.filter(({ outcome }) => outcome === 'differs').map((one) => one.code))];
    };
    expect(
      await changed(
        ({ decisions: { settings } }) => (settings['recourse.budgets']!['RECOURSE_SETTLE_WITHIN_MS'] = '1000'),
      ),
    ).toEqual([1, 'REPLAY_DECISION_DIFFERS']);
    expect(
      await changed(({ decisions: { pins } }) => {
        const wire = pins.find(({ input }) => input.source === 'wire');
        const value = Buffer.from(wire?.input.value ?? '', 'base64');
        value[value.length - 1]! ^= 1;
        Object.assign(wire?.input ?? {}, { value: value.toString('base64') });
      }),
    ).toEqual([1, 'REPLAY_INPUT_DIFFERS']);
  });
});

describe('the same run as it might have been', () => {
  const otherwise = async (...args: readonly string[]): Promise<readonly unknown[]> => {
    const { code, counterfactual, decisions } = await replayed('run.json', ...args);
    const at = decisions.findIndex((one) => 'place' in one && one.place === counterfactual?.at);
    return [code, counterfactual?.outcome, decisions[at]?.type, counterfactual?.why];
  };

  it('would have waited for a person under a tighter ceiling', async () => {
    expect(await otherwise('--ceiling', `tenant/INR=100`)).toEqual([1, 'diverged', 'BudgetReserved', ['type']]);
    expect((await recourse('replay-story', 'run.json', '--ceiling', 'tenant/INR=100')).out).toContain(
      'Then: BudgetReserved. Otherwise: BudgetEscalated, CommandAnswered.',
    );
  });

  it('would have waited for two under a stricter policy', async () => {
    expect(await otherwise('--policy', 'refunds=stricter.json')).toEqual([
      1,
      'diverged',
      'RecoveryPlanned',
      ['/members/0/required_approvals'],
    ]);
  });

  it('is unknown from the first decision whose inputs the packet cannot have', async () => {
    expect(await otherwise('--policy', 'refunds=same.json')).toEqual([
      8,
      'unknown',
      'FactsObserved',
      ['payload_sealed'],
    ]);
  });
});
