import { describe, expect, it } from '@jest/globals';
import { command, commandsOf, core, heardOf, parkedThrough, row, toldOn } from './core-table.js';
import { append } from './service-core.js';
import type { DecideContext, RecordInput, StateView } from './service-core.js';

interface Ceiling {
  readonly tenant: string;
  readonly used: number;
  readonly until: number | null;
}

const ceilings = row<Ceiling>({
  kind: 'ceiling',
  table: 'ceilings',
  group: ({ tenant }) => tenant,
  key: ({ tenant }) => tenant,
  due: ({ until }) => until,
  columns: { tenant: 'text', used: 'bigint' },
  indexes: [['tenant']],
});

const wire = commandsOf('recourse.budget-commands', {
  key: { is: ({ envelope }) => envelope.tenant, name: 'tenant' },
  commands: {
    OpenBudget: command(['budget_owner'], () => append()),
    MoveCeiling: command('anyone', () => append()),
    ReserveBudget: command('anyone', ({ body }) => append({ type: 'BudgetReserved', body: { run_id: body.run_id } })),
    ReleaseReservation: command('anyone', () => append(), { is: ({ run_id }) => run_id, name: 'run' }),
    DecideEscalation: command('anyone', () => append()),
    FreezeAutonomy: command('anyone', () => append()),
    UnfreezeAutonomy: command('anyone', () => append()),
  },
});

const STATE: StateView = {
  get: () => undefined,
  stored: () => undefined,
  list: () => [],
  all: () => [],
  lastFirst: () => [],
};
const CONTEXT: DecideContext = {
  state: STATE,
  views: {
    view: () => ({ get: () => undefined, position: () => 0, partitionOf: () => 0 }),
    readToEnd: () => undefined,
  },
  now: 0,
  partition: 0,
  partitions: 1,
  owns: (key) => key === 'acme',
};

function asked(type: string, more: Partial<RecordInput> = {}, roles: readonly string[] = []): RecordInput {
  const body = { envelope: { tenant: 'acme', roles }, run_id: 'run-1' };
  const at = { source: 'wire', topic: 'recourse.budget-commands', partition: 0, offset: 0, seq: 0 } as const;
  return { ...at, key: 'acme', type, body, hash: Buffer.alloc(32), ...more };
}

describe('a table of commands', () => {
  it('hears each of its types and no other', () => {
    expect(wire.types).toEqual([
      'OpenBudget',
      'MoveCeiling',
      'ReserveBudget',
      'ReleaseReservation',
      'DecideEscalation',
      'FreezeAutonomy',
      'UnfreezeAutonomy',
    ]);
  });

  it('refuses a record key that is not what the table says', () => {
    const { answer } = wire.decide(asked('ReserveBudget', { key: 'globex' }), CONTEXT);
    expect(answer).toMatchObject({ httpStatus: 422, code: 'KEY_MISMATCH' });
  });

  it('lets a line have a key of its own', () => {
    const { answer } = wire.decide(asked('ReleaseReservation'), CONTEXT);
    expect(answer).toMatchObject({ httpStatus: 422, code: 'KEY_MISMATCH' });
    expect(wire.decide(asked('ReleaseReservation', { key: 'run-1' }), CONTEXT).answer).toBeUndefined();
  });

  it('refuses whoever has none of the roles, before anything is decided', () => {
    expect(wire.decide(asked('OpenBudget'), CONTEXT).answer).toMatchObject({ httpStatus: 403, code: 'ROLE_REQUIRED' });
    expect(wire.decide(asked('OpenBudget', {}, ['budget_owner']), CONTEXT).answer).toBeUndefined();
  });

  it('hands a command to its line', () => {
    expect(wire.decide(asked('ReserveBudget'), CONTEXT).records).toEqual([
      { type: 'BudgetReserved', body: { run_id: 'run-1' } },
    ]);
  });
});

describe('a table of what outsiders tell', () => {
  const told = toldOn('recourse.consumer-acks', {
    key: { is: ({ run_id }) => run_id, name: 'run id' },
    records: { RollbackAcknowledged: ({ body }) => append({ type: 'AckRefused', body: { run_id: body.run_id } }) },
  });
  const ack = (key: string) => ({
    ...asked('RollbackAcknowledged', { key }),
    topic: 'recourse.consumer-acks',
  });

  it('parks what came under another key, and hands the rest to its line', () => {
    expect(told.decide(ack('run-2'), CONTEXT).park).toMatchObject({ reason: 'KEY_MISMATCH' });
    expect(told.decide(ack('run-1'), CONTEXT).records).toEqual([{ type: 'AckRefused', body: { run_id: 'run-1' } }]);
  });

  it('hears nothing on a wire of which only parked records are spoken', () => {
    expect(parkedThrough('recourse.ledger-commands')).toMatchObject({ types: [], mode: 'aligned' });
  });
});

describe('a table of heard records', () => {
  const heard = heardOf('recourse.budgets', {
    mode: 'broadcast',
    concerns: (record, owns) => record.type === 'BudgetReleased' && owns(record.body.tenant),
    records: { BudgetReleased: ({ body }) => append({ type: 'BudgetRefunded', body: { run_id: body.run_id } }) },
  });
  const released = (tenant: string): RecordInput =>
    asked('BudgetReleased', { source: 'log', topic: 'recourse.budgets', body: { tenant, run_id: 'run-1' } });

  it('decides what concerns this partition, and nothing else', () => {
    expect(heard.decide(released('acme'), CONTEXT).records).toHaveLength(1);
    expect(heard.decide(released('globex'), CONTEXT).records).toEqual([]);
    expect(heard.concerns?.(released('globex'), CONTEXT.owns)).toBe(false);
  });
});

describe('a kind of rows', () => {
  it('is addressed, timed and read by its table', () => {
    const doc: Ceiling = { tenant: 'acme', used: 5, until: 90 };
    const change = ceilings.put(doc);
    expect(change).toEqual({ op: 'put', row: { kind: 'ceiling', group: 'acme', key: 'acme', dueAt: 90, doc } });
    expect(ceilings.find({ ...STATE, get: () => ({ ...doc }) }, 'acme')).toEqual(doc);
    expect(ceilings.find(STATE, 'acme')).toBeNull();
    if (change.op !== 'put') throw new Error('a put');
    expect(ceilings.spec.columns.map(({ name, of }) => [name, of(change.row)])).toEqual([
      ['tenant', 'acme'],
      ['used', 5],
    ]);
  });
});

describe('a core made of a table', () => {
  const nothing = (): readonly never[] => [];
  const budgets = core('recourse.budgets', {
    inputs: [wire],
    views: [],
    rows: [ceilings],
    keyOf: ({ tenant }) => tenant,
    evolve: {
      BudgetOpened: ({ tenant, ceiling_minor }) => [ceilings.put({ tenant, used: ceiling_minor, until: null })],
      CeilingProposed: nothing,
      CeilingMoved: nothing,
      BudgetReserved: nothing,
      BudgetEscalated: nothing,
      BudgetRetried: nothing,
      EscalationDecided: nothing,
      BudgetSettled: nothing,
      ForwardApprovalNoted: nothing,
      BudgetOverrun: nothing,
      BudgetOverdue: nothing,
      BudgetReleased: nothing,
      BudgetRefunded: nothing,
      BudgetDebited: nothing,
      AutonomyChanged: nothing,
      SignalRefused: nothing,
      OutcomeCounted: nothing,
    },
    due: { ceiling: (_, { address }) => append({ type: 'BudgetOverdue', body: { tenant: address.key } }) },
  });

  it('is not asked about a type that no line hears', () => {
    expect(budgets.decide(CONTEXT, asked('BudgetReserved')).records).toEqual([]);
  });

  it('folds each record by its line, and feeds the timers of its rows', () => {
    const record = { seq: 1, hash: Buffer.alloc(32), prevHash: Buffer.alloc(32), decidedAt: 0 };
    const opened = { ...record, type: 'BudgetOpened', body: { tenant: 'acme', ceiling_minor: 7 } };
    expect(budgets.evolve(STATE, opened)).toEqual([ceilings.put({ tenant: 'acme', used: 7, until: null })]);
    expect(budgets.keyOf({ type: 'BudgetOpened', body: opened.body })).toBe('acme');
    const timer = { source: 'timer', address: { kind: 'ceiling', group: 'acme', key: 'acme' }, dueAt: 1 } as const;
    expect(budgets.decide(CONTEXT, timer).records).toEqual([{ type: 'BudgetOverdue', body: { tenant: 'acme' } }]);
    expect(budgets.decide(CONTEXT, { ...timer, address: { ...timer.address, kind: 'none' } }).records).toEqual([]);
  });
});
