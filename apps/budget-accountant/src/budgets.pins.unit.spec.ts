// Decisions of the accountant, made again from a packet: equal to the byte, and each thing that was changed in it found by its code.
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { entryView, pinShape } from '@recourse/contract';
import { checkPins } from '@recourse/event-log';
import type { CheckedPin, HeldRecord, Pin, PinnedGroup, PinsToCheck, ServiceCore } from '@recourse/event-log';
import { SERVICE_CONFIG } from '@recourse/service';
import { packed, unpacked } from '@recourse/service/replay';
import { ChainedLog, harness, memoryView, ownCodecs } from '@recourse/testing';
import { DONE, REFUNDS, register } from './budgets.autonomy.testing.js';
import { decide, open, recorded, refundView, releaseOf, reserve } from './budgets.testing.js';
import { CONFIG } from './config.js';
import { budgetsCore } from './core.js';
import { REMAKING } from './remaking.js';

let log: ChainedLog;
let pins: readonly Pin[];
const commands = { n: 0 };
/** Each command under an id of its own. */
const asked = <T extends { readonly body: Readonly<Record<string, unknown>> }>(input: T): T => {
  commands.n += 1;
  const envelope = { ...(input.body['envelope'] as object), command_id: `cmd_${String(commands.n)}` };
  return { ...input, body: { ...input.body, envelope } };
};

beforeAll(async () => {
  log = new ChainedLog(budgetsCore(), ownCodecs());
  await log.take(1_000, asked(open('tenant', 50_000)), asked(open('run', 10_000)));
  await log.take(2_000, asked(reserve('effect-1', 4_000)), asked(reserve('effect-2', 9_000)));
  await log.take(3_000, asked(decide('effect-2', true)), asked(releaseOf('effect-1')));
  ({ pins } = await log.pins());
});

function check(changed: Partial<PinsToCheck> = {}): readonly CheckedPin[] {
  const { core, codecs, records } = log;
  return checkPins({ core, codecs, keyed: new Set(), partitions: 1, records, pins, ...changed });
}
/** What is said of the first decision that is not equal. */
const found = (changed: Partial<PinsToCheck>): string | null | undefined =>
  check(changed).find(({ outcome }) => outcome !== 'equal')?.code;
const withPin = (at: number, change: (pin: Pin) => Pin): { readonly pins: readonly Pin[] } => ({
  pins: pins.map((pin, index) => (index === at ? change(pin) : pin)),
});
const withRows = (pin: Pin, change: (group: PinnedGroup) => PinnedGroup): Pin => ({
  ...pin,
  groups: pin.groups.map(change),
});
const RESERVED = 2;

describe('decisions of the accountant in a packet', () => {
  it('are made again to the bytes that are in the log, and rest on nothing that is only told', () => {
    expect(pins).toHaveLength(6);
    expect(check().map(({ outcome, code, pinned }) => ({ outcome, code, pinned }))).toEqual(
      pins.map(() => ({ outcome: 'equal', code: null, pinned: [] })),
    );
  });

  it('name what they rest on and the packet does not show: the sums of others', async () => {
    const reserved = pins[RESERVED]?.records.map(({ seq }) => seq) ?? [];
    const some = await log.pins(reserved);
    const [one] = check({ pins: some.pins });
    expect([one?.outcome, one?.pinned]).toEqual(['equal', [expect.stringMatching(/^row budget /), expect.any(String)]]);
  });

  it('hold no signature of an edge', () => {
    const wires = pins.flatMap(({ input }) => (input.source === 'wire' ? [input.value.toString('latin1')] : []));
    expect(wires).toHaveLength(6);
    expect(wires.filter((value) => value.includes('an edge signed this'))).toEqual([]);
  });

  it('have no pin where their input is no more, and where other settings made them', async () => {
    const other = await log.pins(undefined, budgetsCore({ escalationOwner: 'somebody-else' }));
    expect(other.unpinned.map(({ why }) => why)).toContain('not_matched');
    const forgetful = new ChainedLog(budgetsCore(), ownCodecs());
    await forgetful.take(1_000, asked(open('tenant', 50_000)));
    forgetful.forget('recourse.budget-commands');
    const { pins: none, unpinned } = await forgetful.pins();
    expect([none, unpinned.map(({ why }) => why)]).toEqual([[], ['input_missing', 'input_missing']]);
  });
});

describe('a packet in which something was changed', () => {
  const lastInput = (): Pin['input'] => {
    const last = pins.at(-1)?.input;
    if (last === undefined) throw new Error('nothing was pinned');
    return last;
  };
  it.each<readonly [string, string, () => Partial<PinsToCheck>]>([
    [
      'a byte of an input',
      'REPLAY_INPUT_DIFFERS',
      () =>
        withPin(RESERVED, (pin) => {
          if (pin.input.source !== 'wire') throw new Error('it came on a wire');
          const value = Buffer.from(pin.input.value);
          value[value.indexOf('acme')]! ^= 1; // still a record, of another tenant
          return { ...pin, input: { ...pin.input, value } };
        }),
    ],
    [
      'the inputs of two decisions',
      'REPLAY_ORDER_DIFFERS',
      () => withPin(RESERVED, (pin) => ({ ...pin, input: lastInput() })),
    ],
    ['the order of decisions', 'REPLAY_ORDER_DIFFERS', () => ({ pins: [...pins].reverse() })],
    [
      'a row',
      'REPLAY_ROW_DIFFERS',
      () =>
        withPin(RESERVED, (pin) =>
          withRows(pin, (group) => ({
            ...group,
            rows: group.rows.map((row) => ({
              ...row,
              doc: row.doc === null ? null : { ...row.doc, ceiling_minor: 1 },
            })),
          })),
        ),
    ],
    [
      'a row that was left out',
      'REPLAY_ROW_DIFFERS',
      () => withPin(RESERVED, (pin) => withRows(pin, (group) => ({ ...group, rows: [] }))),
    ],
    [
      'what is told of a row',
      'REPLAY_DECISION_DIFFERS',
      () =>
        withPin(RESERVED, (pin) =>
          withRows(pin, (group) => ({
            ...group,
            rows: group.rows.map((row) => ({
              ...row,
              isFolded: false,
              doc: row.doc === null ? null : { ...row.doc, ceiling_minor: 1 },
            })),
          })),
        ),
    ],
    ['a group that was left out', 'read_missing', () => withPin(RESERVED, (pin) => ({ ...pin, groups: [] }))],
    ['an entry that was left out', 'read_missing', () => withPin(RESERVED, (pin) => ({ ...pin, entries: [] }))],
    ['a setting', 'REPLAY_DECISION_DIFFERS', () => ({ core: budgetsCore({ escalationOwner: 'somebody-else' }) })],
    [
      'a record of a decision',
      'record_missing',
      () => ({ records: log.records.filter(({ record }) => record.type !== 'BudgetReserved') }),
    ],
    [
      'a Progress',
      'record_missing',
      () => ({ records: log.records.filter(({ record }) => record.type !== 'Progress') }),
    ],
  ])('is found out: %s', (_what, code, change) => {
    expect(found(change())).toBe(code);
  });

  it('names the record and the field at which a decision differs', () => {
    const one = check({ core: budgetsCore({ escalationOwner: 'somebody-else' }) }).find(
      ({ outcome }) => outcome === 'differs',
    );
    const escalated = log.records.find(({ record }) => record.type === 'BudgetEscalated');
    expect([one?.at, one?.field]).toEqual([escalated?.place, '/owner']);
  });

  it('is never called equal where any number of a row is another (property)', () => {
    const numbers = pins.flatMap((pin, at) =>
      pin.groups.flatMap(({ rows }, group) =>
        rows.flatMap(({ doc }, row) =>
          Object.entries(doc ?? {}).flatMap(([name, value]) =>
            typeof value === 'number' ? [{ at, group, row, name, value }] : [],
          ),
        ),
      ),
    );
    fc.assert(
      fc.property(fc.constantFrom(...numbers), fc.integer({ min: 1, max: 1_000_000 }), (one, more) => {
        const changed = withPin(one.at, (pin) => ({
          ...pin,
          groups: pin.groups.map((group, index) =>
            index !== one.group
              ? group
              : {
                  ...group,
                  rows: group.rows.map((row, place) =>
                    place === one.row ? { ...row, doc: { ...row.doc, [one.name]: one.value + more } } : row,
                  ),
                },
          ),
        }));
        expect(check(changed)[one.at]?.code).toBe('REPLAY_ROW_DIFFERS');
      }),
    );
  });

  it('is never called equal where a record is left out that a decision rests on (property)', () => {
    fc.assert(
      fc.property(fc.constantFrom(...log.records), (left: HeldRecord) => {
        const records = log.records.filter((one) => one !== left);
        const isAnswer = left.record.type === 'CommandAnswered';
        expect(check({ records }).some(({ outcome }) => outcome !== 'equal') || isAnswer).toBe(true);
      }),
    );
  });
});

describe('pins as the JSON of a packet', () => {
  it('say the same when they are read again', () => {
    expect(check({ pins: pins.map((pin) => unpacked(packed(pin))) }).map(({ outcome }) => outcome)).toEqual(
      pins.map(() => 'equal'),
    );
  });

  it('are refused, or checked to an end, whatever octets are others (property)', () => {
    const sample = JSON.stringify(pins.map(packed));
    const edit = fc.record({ at: fc.nat(sample.length), drop: fc.nat(3), put: fc.string({ maxLength: 3 }) });
    const outcomes = new Set<string>();
    fc.assert(
      fc.property(edit, ({ at, drop, put }) => {
        const read = pinsIn(sample.slice(0, at) + put + sample.slice(at + drop));
        for (const { outcome } of read === null ? [] : check({ pins: read })) outcomes.add(outcome);
      }),
      { numRuns: 300 },
    );
    expect([...outcomes].sort()).toEqual(['differs', 'equal', 'not_made']);
  });

  it('are refused where a row is nested without end', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(80)}1${'}'.repeat(80)}`) as Record<string, unknown>;
    const [first] = pins.map(packed);
    const groups = first?.groups.map((group) => ({ ...group, rows: group.rows.map((row) => ({ ...row, doc: deep })) }));
    expect(pinShape.safeParse({ ...first, groups }).success).toBe(false);
  });
});

/** Null for what is no list of pins. */
function pinsIn(text: string): readonly Pin[] | null {
  try {
    return pinShape.array().parse(JSON.parse(text)).map(unpacked);
  } catch {
    return null;
  }
}

describe('the settings that decisions were made with', () => {
  it('are in a packet, each that is the accountant’s own, and what is not set as it was then', () => {
    const shared: readonly string[] = Object.values(SERVICE_CONFIG).map(({ name }) => name);
    const own = Object.values(CONFIG).filter(({ name }) => !shared.includes(name));
    expect(REMAKING.settingsIn({})).toEqual(Object.fromEntries(own.map(({ name, fallback }) => [name, fallback])));
  });

  it('say again until when an approval is waited for', () => {
    const waitedFor = (core: ServiceCore): unknown => {
      const { view, digest } = refundView();
      const entries = memoryView(entryView);
      register(entries, { rungs: { auto_execute: { forward_approval: 'human' } } });
      const done = { digest, capability: REFUNDS, actionDigest: DONE, at: 2_000 };
      const [settled] = harness(core, { views: { contracts: view, entries } })
        .when(reserve('a', 500, { capability: REFUNDS }), 1_000)
        .when(recorded('a', 500, done), 2_000)
        .decision().records;
      return settled?.body['awaited'];
    };
    const settings = REMAKING.settingsIn({ RECOURSE_APPROVAL_WITHIN_MS: '60000' });
    expect(waitedFor(budgetsCore({ approvalWithinMs: 60_000 }))).toMatchObject({ wait_until: 62_000 });
    expect(waitedFor(REMAKING.coreUnder(settings))).toMatchObject({ wait_until: 62_000 });
  });
});

describe('the same run under other ceilings', () => {
  const under = (minor: number, scope = 'run') =>
    check({ whatIf: REMAKING.whatIf({ policy: null, ceilings: [{ scope, unit: 'INR', minor }] }) }).map(
      ({ otherwise }) => otherwise,
    );

  it('is unchanged under the ceiling that stood', () => {
    expect(under(10_000).map((one) => one?.outcome)).toEqual(pins.map(() => 'unchanged'));
  });

  it('would have asked a person where the ceiling is tighter', () => {
    const [, , reserved] = under(1_000);
    expect(reserved).toMatchObject({
      outcome: 'diverged',
      at: pins[RESERVED]?.records[0],
      why: 'type',
      isConcerned: true,
    });
    expect(reserved?.decided.map(({ type }) => type)).toEqual(['BudgetEscalated', 'CommandAnswered']);
  });

  it('says that a ceiling nobody read is of no concern', () => {
    expect(under(1, 'platform').some((one) => one?.isConcerned === true)).toBe(false);
  });
});
