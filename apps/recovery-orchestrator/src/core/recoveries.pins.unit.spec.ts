// Decisions of the orchestrator, made again from a packet: what a mark, an approval and a time that came led to, under the policy of then
// and under another.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { contractDigest } from '@recourse/contract';
import { checkPins } from '@recourse/event-log';
import type { CheckedPin, Doc, HeldRecord, Pin, PinsToCheck } from '@recourse/event-log';
import { ChainedLog, ownCodecs } from '@recourse/testing';
import {
  answered,
  approval,
  core,
  digest,
  EVIDENCE,
  execution,
  markedInput,
  observed,
  ref,
  requestIn,
  STEP,
  terms,
} from '../recoveries.testing.js';
import { REMAKING } from '../remaking.js';

const MARKED_AT = 10_000;
const TERMS = terms({ impact: 'write', recovery_approval_mode: 'auto', recovery_policy_ref: 'refunds' });
const bundle = (...recovery: readonly object[]): string =>
  JSON.stringify({ owner: 'risk', doc: 'd', admission: [], recovery });
const LARGE = { name: 'large', when: 'mutation.amount_minor > 1000', approval: 'human', reason: 'much money' };
const DOUBLE = { ...LARGE, approval: 'dual_control' };
/** Nothing of the run is large enough for it. */
const HUGE = { ...LARGE, when: 'mutation.amount_minor > 100000' };

async function registered(log: ChainedLog, version: number, body: string): Promise<HeldRecord> {
  const entry = { kind: 'policy_bundle', tenant: 'acme', name: 'refunds', version, digest: contractDigest(body), body };
  const said = { registered_by: 'ravi', accounts: [], command_id: 'cmd-1' };
  return log.see(version * 1_000, { type: 'EntryRegistered', body: { ...entry, ...said } }, 'refunds');
}

let log: ChainedLog;
let pins: readonly Pin[];
let versions: readonly HeldRecord[];
beforeAll(async () => {
  log = new ChainedLog(core(), ownCodecs());
  versions = [await registered(log, 1, bundle(DOUBLE)), await registered(log, 2, bundle(LARGE))];
  await log.hear(
    MARKED_AT,
    markedInput({ terms: TERMS, execution: execution({ value: { amount_minor: 4_900, currency: 'EUR' } }) }),
  );
  await log.take(MARKED_AT + 10, approval({ digest: digest({ terms: TERMS }) }));
  ({ pins } = await log.pins(
    log.records.filter(({ place }) => place.log === log.core.log).map(({ place }) => place.seq),
  ));
});

const check = (changed: Partial<PinsToCheck> = {}): readonly CheckedPin[] =>
  checkPins({
    ...{ core: core(), codecs: log.codecs, keyed: REMAKING.keyed, partitions: 1 },
    ...{ records: log.records, pins },
    ...changed,
  });
const found = (changed: Partial<PinsToCheck>): string | null | undefined =>
  check(changed).find(({ outcome }) => outcome !== 'equal')?.code;
/** Pins whose rows of steps are told otherwise. */
const tellingSteps = (tell: (step: Doc) => Doc): readonly Pin[] =>
  pins.map((pin) => ({
    ...pin,
    groups: pin.groups.map((group) => ({
      ...group,
      rows: group.rows.map((row) => (group.kind === 'step' && row.doc !== null ? { ...row, doc: tell(row.doc) } : row)),
    })),
  }));
const typesOf = (pin: Pin | undefined): readonly (string | undefined)[] =>
  (pin?.records ?? []).map(
    ({ seq }) => log.records.find(({ place }) => place.log === pin?.log && place.seq === seq)?.record.type,
  );

describe('decisions of the orchestrator in a packet', () => {
  it('are made again from the mark, the approval, the rows and the policy of then', () => {
    expect(pins.map((pin) => typesOf(pin)[0])).toEqual(['RecoveryPlanned', 'StepApproved']);
    expect(check().map(({ outcome, code }) => [outcome, code])).toEqual(pins.map(() => ['equal', null]));
  });

  it('follow from the version of the bundle that stood, by its record', () => {
    const [entry] = (pins[0]?.entries ?? []).filter(({ key }) => key === 'entry/policy_bundle/acme/refunds');
    expect(entry?.records.at(-1)).toEqual(versions[1]?.place);
  });

  it('name the leases that only the key of their process makes', () => {
    const checked = check({ core: core({ leaseKey: Buffer.alloc(32) }) });
    expect(checked.map(({ outcome }) => outcome)).toEqual(['equal', 'equal']);
    expect(checked.flatMap(({ pinned }) => pinned)).toEqual(expect.arrayContaining(['FactsAsked /lease_id']));
  });

  it('are equal where an earlier version made less of the records it read: rows are as the records make them', () => {
    const less = tellingSteps(({ phase: _phase, deadline_at: _deadline, ...step }) => step);
    expect(less.flatMap((pin) => pin.groups).flatMap(({ rows }) => rows).length).toBeGreaterThan(0);
    expect(check({ pins: less }).map(({ outcome, code }) => [outcome, code])).toEqual(pins.map(() => ['equal', null]));
  });

  it.each<readonly [string, string, () => Partial<PinsToCheck>]>([
    ['what a step says', 'REPLAY_ROW_DIFFERS', () => ({ pins: tellingSteps((step) => ({ ...step, phase: null })) })],
    [
      'what a list of a step leaves out',
      'REPLAY_ROW_DIFFERS',
      () => ({ pins: tellingSteps((step) => ({ ...step, answerable_to: [] })) }),
    ],
    [
      'another version of the policy',
      'REPLAY_DECISION_DIFFERS',
      () => ({
        pins: pins.map((pin) => ({
          ...pin,
          entries: pin.entries.map((entry) => ({
            ...entry,
            records: entry.records.filter(({ hash }) => hash !== versions[1]?.place.hash),
          })),
        })),
      }),
    ],
    [
      'the bytes of the policy',
      'REPLAY_VIEW_DIFFERS',
      () => ({ records: log.records.filter((held) => held !== versions[1]) }),
    ],
    [
      'a mark that was left out',
      'input_missing',
      () => ({ records: log.records.filter(({ record }) => record.type !== 'MutationsFell') }),
    ],
    [
      'another mark',
      'REPLAY_INPUT_DIFFERS',
      () => ({
        pins: pins.map((pin) =>
          pin.input.source === 'log' ? { ...pin, input: { ...pin.input, hash: '0'.repeat(64) } } : pin,
        ),
      }),
    ],
    ['a setting', 'REPLAY_DECISION_DIFFERS', () => ({ core: core({ leaseMs: 1 }) })],
    [
      'a step that was left out',
      'REPLAY_ROW_DIFFERS',
      () => ({
        pins: pins.map((pin) => ({
          ...pin,
          groups: pin.groups.map((group) => ({ ...group, rows: group.rows.filter(({ key }) => key !== STEP) })),
        })),
      }),
    ],
  ])('are found to differ by %s', (_what, code, change) => {
    expect(found(change())).toBe(code);
  });
});

describe('the same run under another policy', () => {
  const under = (body: string) =>
    check({ whatIf: REMAKING.whatIf({ policy: { name: 'refunds', body }, ceilings: [] }) }).map(
      ({ otherwise }) => otherwise,
    );

  it('is unchanged where it asks for the same', () => {
    expect(under(bundle({ ...LARGE, when: 'mutation.amount_minor > 2000' })).map((one) => one?.outcome)).toEqual(
      pins.map(() => 'unchanged'),
    );
  });

  it('diverges at the first record that would have been another, and shows it', () => {
    const [first] = under(bundle(DOUBLE));
    expect(first).toMatchObject({
      ...{ outcome: 'diverged', isConcerned: true, at: pins[0]?.records[0] },
      why: '/members/0/required_approvals',
    });
    expect(first?.decided.map(({ type }) => type)).toEqual(typesOf(pins[0]));
  });

  it('is unknown where it would have read what no decision read', () => {
    const [first] = under(bundle(HUGE));
    expect([first?.outcome, first?.why]).toEqual(['unknown', expect.stringMatching(/^the (row|rows|entry) /)]);
  });
});

describe('decisions on what is sealed', () => {
  const sealed = {
    ...({ content_type: 'application/json', encoding: 'sealed', key_id: 'key-1' } as const),
    ...{ body: Buffer.from('sealed bytes'), sha256: Buffer.alloc(32, 5) },
  };
  const SECRET = 'planted-in-an-observation';

  it('are made again where they only hand it on, and rest on the digest that only its key shows', async () => {
    const own = new ChainedLog(core(), ownCodecs());
    await own.hear(
      MARKED_AT,
      markedInput({ ref: ref({ reversal_args: sealed }), execution: execution({ args: sealed }) }),
    );
    const { pins: made, unpinned } = await own.pins();
    expect([made.length, unpinned]).toEqual([1, []]);
  });

  it.each([
    ['of its amount', LARGE, 1, []],
    ['of what was stated', { ...LARGE, when: 'has(evidence.statement.shipped)' }, 0, ['payload_sealed']],
  ] as const)('open what was stated only for a rule that reads it: %s', async (_what, judged, count, lacking) => {
    const own = new ChainedLog(core(), ownCodecs());
    await registered(own, 1, bundle(judged));
    await own.hear(MARKED_AT, markedInput({ terms: TERMS, evidence: { ...EVIDENCE, statement: sealed } }));
    const { pins: made, unpinned } = await own.pins();
    expect([made.length, [...new Set(unpinned.map(({ why }) => why))]]).toEqual([count, lacking]);
  });

  it('have no pin where they look into it, and nothing of a payload of a wire is in any', async () => {
    const own = new ChainedLog(core(), ownCodecs());
    const seen = observed('verify', 'payments.read_refund', { status: 'pending', note: SECRET });
    const look = async (now: number): Promise<void> => {
      const asked = own.records.findLast(({ record }) => record.type === 'FactsAsked');
      const sent = asked === undefined ? [] : core().react(asked.record);
      await own.take(now, answered(requestIn(sent), 'verified', [seen]));
    };
    await own.hear(MARKED_AT, markedInput());
    await look(MARKED_AT + 10);
    await own.take(MARKED_AT + 20, approval());
    await look(MARKED_AT + 30);
    const { pins: made, unpinned } = await own.pins();
    const last = own.records.findLast(({ record }) => record.type === 'LegDispatched');
    expect(unpinned.at(-1)).toEqual({ record: last?.place, why: 'payload_sealed' });
    const wires = made.flatMap(({ input }) => (input.source === 'wire' ? [input] : []));
    expect(wires.map(({ wireSha256 }) => wireSha256 === null)).toEqual([true, false]);
    expect(wires.filter(({ value }) => value.includes(SECRET))).toEqual([]);
  });
});
