import { describe, expect, it } from '@jest/globals';
import { budgetsCore, BUDGET_COMMANDS } from '@recourse/budget-accountant';
import { contractView, entryView } from '@recourse/contract';
import { verifyCommand } from '@recourse/event-log';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { fact, harness, memoryView, wire } from '@recourse/testing';
import { askingOf, onTheWire, openingOf, openRefund } from './budget-commands.js';
import type { BudgetSaid } from './budget-commands.js';
import { budgetLoad, ceilingsOf, LogRecount } from './budget-load.js';

const SIZE = { runs: 40, asksPerRun: 10, tenants: 6 };
const load = budgetLoad('t', SIZE);
const totalOf = (name: 'asks' | 'fitting'): number => load.tenants.reduce((all, one) => all + one[name], 0);

describe('a load of the budget bench', () => {
  it('asks each effect of each run once, of tenants of which the first asks most', () => {
    expect(new Set(load.asks.map(({ run, effect }) => `${run} ${effect}`)).size).toBe(400);
    expect(totalOf('asks')).toBe(400);
    const [first = 0, ...others] = load.tenants.map(({ asks }) => asks);
    expect(first).toBeGreaterThan(Math.max(...others));
  });

  it('has one ask in a hundred beyond a ceiling', () => {
    expect(totalOf('fitting')).toBe(396);
  });

  it('is decided by the accountant as it is made: what fits is reserved, and the rest escalated', () => {
    const { name, body, digest } = openRefund();
    const contracts = memoryView(contractView);
    contracts.append(name, fact('ContractRegistered', { name, version: 1, tenant: '*', digest, body }));
    const accountant = harness(budgetsCore(), { views: { contracts, entries: memoryView(entryView) } });
    const inputOf = ({ type, tenant, body: said }: BudgetSaid) => wire(BUDGET_COMMANDS, type, said, { key: tenant });
    for (const said of load.tenants.flatMap(openingOf)) accountant.when(inputOf(said), 1);
    for (const ask of load.asks) accountant.when(inputOf(askingOf(ask, name)), 1);
    const recount = new LogRecount(load.tenants);
    for (const record of accountant.records()) recount.add(record.type, record.body);
    expect(recount).toMatchObject({ reserved: 396, escalated: 4, twice: 0, overspend: 0 });
  });
});

describe('a command of the budget bench', () => {
  it('is signed as the accountant verifies it', async () => {
    const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
    await codecs.prepareWriter(BUDGET_COMMANDS, { register: true });
    const key = Buffer.alloc(32, 7);
    const [ask] = load.asks;
    const [first] = load.tenants;
    if (ask === undefined || first === undefined) throw new Error('a load has asks and tenants');
    for (const said of [askingOf(ask, 'payments.issue_refund'), ...openingOf(first)]) {
      const { value } = onTheWire({ codecs }, key, said);
      await codecs.load(value.readInt32BE(1));
      const decoded = codecs.decodeSync(value);
      if (decoded.kind !== 'decoded') throw new Error(decoded.kind);
      const body = { ...(decoded.body as object) } as Readonly<Record<string, unknown>>; // records are objects
      const { signature } = body['envelope'] as { readonly signature: Buffer }; // every command has one
      const command = { topic: BUDGET_COMMANDS, type: `recourse.budgets.${said.type}`, body };
      expect(verifyCommand(key, command, signature)).toBe(true);
    }
  });
});

describe('counting again from the log', () => {
  const [tenant = load.tenants[0]] = load.tenants;
  const reserved = (id: number) => ({
    reservation_id: `res_${String(id)}`,
    tenant: tenant?.tenant,
    debits: [{ currency: 'INR', value_minor: 100, debit_minor: 10 }],
  });

  it('finds what is beyond a ceiling in a prefix, and what was decided twice', () => {
    const recount = new LogRecount(load.tenants);
    const fitting = tenant?.fitting ?? 0;
    for (let id = 0; id < fitting; id += 1) recount.add('BudgetReserved', reserved(id));
    expect(recount.overspend).toBe(0);
    recount.add('BudgetReserved', reserved(fitting));
    expect(recount).toMatchObject({ overspend: 100, twice: 0 });
    recount.add('BudgetEscalated', reserved(0));
    expect(recount.twice).toBe(1);
  });

  it('knows the ceiling of every dimension', () => {
    expect(ceilingsOf({ tenant: 't-0', asks: 100, fitting: 99 }).map(({ amount_minor }) => amount_minor)).toEqual([
      9_900, 100_000, 100_000, 100, 0,
    ]);
  });
});
