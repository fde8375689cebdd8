// Takes a recovered run of a real stack away with what its decisions were made from, and makes them again offline (D58): as they were, with
// the packet changed, and under a tighter ceiling and another policy; with the keys of what was sealed, proved by an auditor, once a key was
// destroyed, and once the wires forgot.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rawClient } from '@recourse/kafka';
import { cliAt, put } from './guide.testing.js';
import type { Ran } from './guide.testing.js';
import { rehearse } from './rehearsal.testing.js';
import type { Rehearsal } from './rehearsal.testing.js';
import { ADMINISTRATOR, EDITOR, TENANT, until } from './system.testing.js';
import type { Facts, Person } from './system.testing.js';

const READER: Person = { subject: 'vera', roles: ['payload_reader', 'auditor'], tenant: TENANT };
const RUN = 'run-decided';
const STORY = ['story', RUN, '--decisions', '--settings', 'settings.env'];
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
    readonly unpinned: readonly Unpinned[];
  };
}
interface Unpinned {
  readonly record: { readonly log: string };
  readonly why: string;
}
interface Replay {
  readonly outcome: string;
  readonly decisions: readonly { readonly type: string; readonly outcome: string; readonly code: string | null }[];
  readonly counterfactual: { readonly outcome: string; readonly at: string; readonly why: readonly string[] } | null;
}

let rehearsal: Rehearsal;
let told: Ran;
let toldOpen: Ran;
beforeAll(async () => {
  rehearsal = await rehearse({ withAuditor: true });
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
  // The accountant hears of an undo after the ledger has it.
  await until('what it cost to be given back', async () => {
    const { body } = await system.get('budget', `/v1/reservations?run_id=${RUN}&phase=refunded`);
    return (body['items'] as readonly unknown[] | undefined)?.length === 1 ? true : null;
  });
  put(
    folder,
    'settings.env',
    [
      '# As the stack sets them.',
      'RECOURSE_LEASE_MS=5000',
      'RECOURSE_SOURCE_TRUST=off',
      'RECOURSE_STORM_LIMIT=0',
      'RECOURSE_CLOSURE_MAX=0',
      '',
    ].join('\n'),
  );
  put(folder, 'same.json', bundle({ ...rule, when: 'mutation.amount_minor > 2000' }));
  put(folder, 'stricter.json', bundle({ ...rule, approval: 'dual_control' }));
  told = await recourse(...STORY, '--packet', 'run.json');
  toldOpen = await recourse(...STORY, '--packet', 'open.json', '--open');
}, 400_000);
afterAll(async () => {
  await rehearsal.stop();
}, 60_000);

/** As whoever reaches the key store. */
const recourse = (...args: readonly string[]): Promise<Ran> =>
  cliAt(
    {
      ...{ system: rehearsal.system, folder: rehearsal.folder, person: READER, saidTo: null },
      environment: { RECOURSE_KEY_STORE_URL: rehearsal.system.plan.keyStoreUrl },
    },
    ['audit', ...args],
  );
async function replayed(...args: readonly string[]): Promise<Replay & { readonly code: number }> {
  const { code, out } = await recourse('replay-story', ...args, '--json');
  return { ...(JSON.parse(out) as Replay), code };
}
const packet = (file = 'run.json'): Packed => JSON.parse(readFileSync(join(rehearsal.folder, file), 'utf8')) as Packed;
/** What a packet says of wires, and of why decisions have no pin. */
const wiresIn = (file: string): readonly Buffer[] =>
  packet(file).decisions.pins.flatMap(({ input }) =>
    input.source === 'wire' ? [Buffer.from(input.value, 'base64')] : [],
  );
const outcomesOf = ({ decisions }: Replay): Readonly<Record<string, readonly string[]>> => {
  const grouped = Map.groupBy(decisions, ({ outcome, code }) => (code === null ? outcome : `${outcome} ${code}`));
  return Object.fromEntries([...grouped].map(([outcome, of]) => [outcome, of.map(({ type }) => type)]));
};

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
        'MutationsFell',
        'RollbackAnnounced',
        'RollbackSettled',
        'RecoveryPlanned',
        'FactsAsked',
        'StepApproved',
        'BudgetRefunded',
      ]),
    );
    expect(decisions.filter(({ outcome: one }) => one === 'differs')).toEqual([]);
    // What an agent said and a worker saw is sealed in the log, and told by nothing else.
    for (const type of ['MutationPlanned', 'MutationRecorded', 'LegSettled'])
      expect(decisions.filter((one) => one.type === type).map(({ code: why }) => why)).toContain('payload_sealed');
    expect([...new Set(packet().decisions.unpinned.map(({ why }) => why))]).toEqual(['payload_sealed']);
  });

  it('still tells its story, and holds nothing of a payload that a wire held in clear', async () => {
    expect((await recourse('check-story', 'run.json')).code).toBe(8);
    expect(wiresIn('run.json').length).toBeGreaterThan(2);
    expect(wiresIn('run.json').filter((value) => value.includes('settled'))).toEqual([]);
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

describe('the same run, with the keys of what was sealed', () => {
  const EVERYTHING = [
    ...['BudgetReserved', 'MutationPlanned', 'MutationRecorded', 'BudgetSettled', 'MutationsFell', 'RollbackAnnounced'],
    ...['RecoveryPlanned', 'FactsObserved', 'StepApproved', 'LegDispatched', 'RecoverabilityChanged', 'LegSettled'],
    ...['RecoveryClosed', 'CompensationsExecuted', 'RollbackSettled', 'BudgetRefunded'],
  ];

  it('is decided again as a whole: each decision of ledger, orchestrator and accountant, and each notice', async () => {
    expect(toldOpen.note).toMatch(/^\d+ decisions are pinned, 0 records are not\./);
    const replay = await replayed('open.json', '--open');
    expect(Object.keys(outcomesOf(replay))).toEqual(['equal']);
    expect(outcomesOf(replay)['equal']).toEqual(expect.arrayContaining(EVERYTHING));
    // What wires told, and what was sealed under which key, nothing shows.
    expect([replay.outcome, replay.code]).toEqual(['incomplete', 8]);
  });

  it('holds nothing of what was opened, and is sealed to whoever has no keys', async () => {
    expect(wiresIn('open.json').length).toBeGreaterThan(4);
    expect(wiresIn('open.json').filter((value) => value.includes('settled'))).toEqual([]);
    const { 'not_made payload_sealed': sealed = [], ...others } = outcomesOf(await replayed('open.json'));
    expect(sealed).toEqual(expect.arrayContaining(['MutationPlanned', 'MutationRecorded', 'LegSettled']));
    expect(Object.keys(others)).toEqual(['equal']);
  });

  it('is proved record by record by an auditor, and claims no more decisions for that', async () => {
    const { headsFile, auditorKeyFile } = rehearsal.system.plan.audited ?? { headsFile: '', auditorKeyFile: '' };
    const by = ['--auditor-key', auditorKeyFile, '--heads', headsFile];
    let tries = 0;
    const file = await until('heads that cover the run', async () => {
      tries += 1;
      const name = `proved-${String(tries)}.json`;
      const { note } = await recourse(...STORY, '--packet', name, ...by);
      return /(\d+) of its \1 records are proved/.test(note) ? name : null;
    });
    expect((await recourse('check-story', file, '--auditor-key', auditorKeyFile)).code).toBe(0);
    const replay = await replayed(file);
    expect([replay.outcome, replay.code]).toEqual(['incomplete', 8]);
    expect(outcomesOf(replay)['not_made payload_sealed']).toContain('MutationRecorded');
  });

  it('is made no more where the wires forgot, but for what came from logs', async () => {
    const admin = rawClient(rehearsal.system.stack.kafka.brokers).admin();
    await admin.connect();
    for (const topic of ['recourse.tool-executions', 'recourse.tool-results', 'recourse.budget-commands']) {
      const ends = await admin.fetchTopicOffsets(topic);
      const partitions = ends.map(({ partition, high }) => ({ partition, offset: high }));
      await admin.deleteTopicRecords({ topic, partitions });
    }
    await admin.disconnect();
    await recourse(...STORY, '--packet', 'forgotten.json', '--open');
    const replay = await replayed('forgotten.json', '--open');
    const { equal = [], 'not_made input_missing': missing = [] } = outcomesOf(replay);
    expect(missing).toEqual(
      expect.arrayContaining(['MutationPlanned', 'MutationRecorded', 'LegSettled', 'BudgetReserved']),
    );
    expect(equal).toEqual(
      expect.arrayContaining(['MutationsFell', 'RecoveryPlanned', 'StepApproved', 'RollbackAnnounced']),
    );
    expect(Object.keys(outcomesOf(replay)).filter((one) => one.startsWith('differs'))).toEqual([]);
  });

  it('is made no more where a key was destroyed, and says so', async () => {
    const { status } = await rehearsal.system.post(
      'ledger',
      '/v1/erasures',
      { subject: 'decided', reason: 'asked to be forgotten' },
      { person: { ...ADMINISTRATOR, tenant: TENANT } },
    );
    expect(status).toBe(200);
    const {
      equal = [],
      'not_made payload_erased': erased = [],
      ...others
    } = outcomesOf(await replayed('open.json', '--open'));
    expect(erased).toEqual(expect.arrayContaining(['MutationPlanned', 'MutationRecorded', 'LegSettled']));
    expect(equal).toEqual(expect.arrayContaining(['MutationsFell', 'StepApproved', 'BudgetReserved']));
    expect(Object.keys(others).filter((one) => one.startsWith('differs'))).toEqual([]);
  });
});
