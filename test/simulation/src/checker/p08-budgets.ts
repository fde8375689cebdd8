// P8: no reservation exceeds a ceiling or a cap, in any unit; what nobody reserved is debited in full. Counted anew from the log alone.
// What an attempt was told that it holds, nothing that ended before it asked takes away.
import { CLASS_WEIGHTS, reservationId, weighted } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { Debit, Money } from '@recourse/messages';
import { mutationId } from '@recourse/sdk';
import { contractsOf } from '../contracts.js';
import { broken, eachMember, groupBy, nested, number, ofType, text, wireOf } from './history.js';
import type { Fields, History, LogRecord } from './history.js';

const BUDGETS = 'recourse.budgets';

export function checkBudgets(history: History): void {
  const contracts = contractsOf(history.world.options.profile.terms);
  for (const partition of [0, 1])
    checkBounds(
      history,
      (history.logs[BUDGETS] ?? []).filter((record) => record.partition === partition).flatMap(eachMember),
      new Map(contracts.map(({ name, contract }) => [name, contract])),
    );
  checkDebits(history, new Map(contracts.map(({ digest, contract }) => [digest.toString('hex'), contract])));
  checkKept(history);
}

/** What a reservation counts for, and where. */
interface Held {
  readonly tenant: string;
  readonly run: string;
  readonly agent: string;
  readonly capability: string;
  readonly debits: readonly Debit[];
}

/** Counts of a partition, and their ceilings. */
class Counts {
  private readonly used = new Map<string, number>();
  readonly ceilings = new Map<string, number>();

  of(name: string): number {
    return this.used.get(name) ?? 0;
  }

  add(name: string, delta: number): void {
    this.used.set(name, this.of(name) + delta);
  }
}

const accountsOf = ({ tenant, run, agent }: Held): readonly string[] => [
  `run ${tenant} ${run}`,
  `agent ${tenant} ${agent}`,
  `tenant ${tenant} ${tenant}`,
];
const MEASURES = { debt: 'debit_minor', value: 'value_minor' } as const;

function checkBounds(history: History, records: readonly LogRecord[], contracts: ReadonlyMap<string, Contract>): void {
  const ledger: Ledger = { history, contracts, counts: new Counts(), known: new Map() };
  for (const record of records) {
    const id = text(record.body, 'reservation_id');
    const step = STEPS[record.type];
    step?.(ledger, { ...record, id, held: heldBy(record.body, ledger.known.get(id)) });
  }
}

interface Ledger {
  readonly history: History;
  readonly contracts: ReadonlyMap<string, Contract>;
  readonly counts: Counts;
  readonly known: Map<string, Held>;
}

type Told = LogRecord & { readonly id: string; readonly held: Held };

function count({ counts }: Ledger, held: Held, sign: number, calls: number): void {
  const place = `${held.tenant} ${held.run} ${held.capability}`;
  for (const { currency, ...debit } of held.debits) {
    for (const account of accountsOf(held))
      for (const [measure, field] of Object.entries(MEASURES))
        counts.add(`${account} ${currency} ${measure}`, sign * debit[field]);
    counts.add(`moved ${place} ${currency}`, sign * debit.value_minor);
  }
  counts.add(`calls ${place}`, calls);
}

const free = (held: Held): Held => ({ ...held, debits: [] });

/** What each record makes of the counts. */
const STEPS: Readonly<Record<string, (ledger: Ledger, told: Told) => void>> = {
  BudgetOpened: ({ counts }, { body }) => {
    const name = ['scope', 'tenant', 'scope_id', 'currency', 'measure'].map((field) => text(body, field)).join(' ');
    counts.ceilings.set(name, number(body, 'ceiling_minor'));
  },
  BudgetReserved: fits,
  BudgetDebited: fits,
  BudgetEscalated: ({ known }, { id, held }) => known.set(id, free(held)),
  EscalationDecided: (ledger, { id, held }) => {
    if (held.debits.length === 0) return;
    count(ledger, held, 1, 1);
    ledger.known.set(id, held);
  },
  BudgetSettled: (ledger, { id, held }) => {
    count(ledger, ledger.known.get(id) ?? held, -1, 0);
    count(ledger, held, 1, 0);
    ledger.known.set(id, held);
  },
  BudgetOverrun: (ledger, { id, held }) => {
    const before = ledger.known.get(id)?.debits ?? [];
    count(ledger, held, 1, before.length > 0 ? 0 : 1);
    ledger.known.set(id, { ...held, debits: [...before, ...held.debits] });
  },
  BudgetReleased: (ledger, { id, held }) => {
    count(ledger, held, -1, held.debits.length > 0 ? -1 : 0);
    ledger.known.set(id, free(held));
  },
  BudgetRefunded: (ledger, { id, held }) => {
    checkRefund(ledger.history, id, held.debits, ledger.known.get(id)?.debits ?? []);
    count(ledger, held, -1, 0);
    ledger.known.set(id, free(held));
  },
};

function fits(ledger: Ledger, { id, held, body, seq }: Told): void {
  for (const problem of exceeded(ledger.counts, held, body, ledger.contracts))
    broken(ledger.history, 'P8', 'ceiling', `reservation ${id} at ${String(seq)}: ${problem}`);
  count(ledger, held, 1, 1);
  ledger.known.set(id, held);
}

/** What a record counts: at the accounts under which it is held, or of whom it names where nothing is. */
function heldBy(body: Fields, before: Held | undefined): Held {
  const isNamed = body['agent_id'] !== undefined && (before?.debits ?? []).length === 0;
  const { agent, capability } = before === undefined || isNamed ? named(body) : before;
  return {
    tenant: text(body, 'tenant'),
    run: text(body, 'run_id'),
    agent,
    capability,
    debits: Array.isArray(body['debits']) ? (body['debits'] as readonly Debit[]) : [], // as its schema says
  };
}

function named(body: Fields): Pick<Held, 'agent' | 'capability'> {
  return { agent: text(body, 'agent_id'), capability: text(body, 'capability') };
}

/** Bounds that what is reserved is over, once it is counted. */
function exceeded(
  counts: Counts,
  held: Held,
  body: Fields,
  contracts: ReadonlyMap<string, Contract>,
): readonly string[] {
  const over = (name: string, asked: number, ceiling: number | undefined): readonly string[] =>
    ceiling === undefined || asked === 0 || counts.of(name) + asked <= ceiling
      ? []
      : [`${name}: ${String(counts.of(name))} + ${String(asked)} > ${String(ceiling)}`];
  const ceilings = held.debits.flatMap(({ currency, ...debit }) =>
    accountsOf(held).flatMap((account) =>
      Object.entries(MEASURES).flatMap(([measure, field]) => {
        const name = `${account} ${currency} ${measure}`;
        return over(name, debit[field], counts.ceilings.get(name));
      }),
    ),
  );
  const caps = contracts.get(held.capability)?.blast_radius;
  // Who agreed to a recovery agreed to what takes its effects back; what has happened is counted as it was.
  if (caps === undefined || text(body, 'effect_key').startsWith('rev_') || body['mutation_id'] !== undefined)
    return ceilings;
  const place = `${held.tenant} ${held.run} ${held.capability}`;
  const moved = held.debits.find(({ currency }) => currency === caps.max_value_per_run?.currency);
  return [
    ...ceilings,
    ...over(`calls ${place}`, 1, caps.max_calls_per_run),
    ...over(`moved ${place} ${moved?.currency ?? ''}`, moved?.value_minor ?? 0, caps.max_value_per_run?.amount_minor),
  ];
}

function checkRefund(history: History, id: string, freed: readonly Debit[], held: readonly Debit[]): void {
  for (const { currency, debit_minor, value_minor } of freed) {
    const own = held.filter((one) => one.currency === currency);
    const [debt, value] = [sum(own, 'debit_minor'), sum(own, 'value_minor')];
    if (debit_minor > debt || value_minor > value)
      broken(history, 'P8', 'refund', `${id} frees ${String(debit_minor)} ${currency} of ${String(debt)}`);
  }
}

function sum(debits: readonly Debit[], field: 'debit_minor' | 'value_minor'): number {
  return debits.reduce((total, debit) => total + debit[field], 0);
}

/** Every execution that took effect is debited at what it cost, reserved or not; so is every compensation. */
function checkDebits(history: History, contracts: ReadonlyMap<string, Contract>): void {
  const debits = groupBy(ofType(history, BUDGETS, 'BudgetSettled', 'BudgetOverrun', 'BudgetDebited'), ({ body }) =>
    text(body, 'mutation_id'),
  );
  const costs = (id: string, value: unknown, contract: Contract | undefined, weight: number): void => {
    if (value === null) return;
    const { amount_minor, currency } = value as Money; // Money or null
    const weighs = weighted({ amount_minor, currency }, weight).amount_minor;
    const cost = contract?.recovery_cost?.value;
    const due = cost?.currency === currency && amount_minor > 0 ? Math.max(weighs, cost.amount_minor) : weighs;
    const told = (debits.get(id) ?? []).flatMap(({ body }) => heldBy(body, undefined).debits);
    const debited = sum(
      told.filter((one) => one.currency === currency),
      'debit_minor',
    );
    if (debited !== due)
      broken(history, 'P8', 'debited', `${id} costs ${String(due)} and was debited ${String(debited)}`);
  };
  for (const { body } of ofType(history, 'recourse.mutations', 'MutationRecorded')) {
    if (body['execution_state'] !== 'succeeded' || body['terms'] === null) continue;
    const contract = contracts.get((nested(body, 'terms')['contract_digest'] as Buffer).toString('hex'));
    const weight = contract?.debt_weight ?? CLASS_WEIGHTS.compensable;
    costs(text(body, 'mutation_id'), nested(body, 'execution')['value'], contract, weight);
  }
  for (const { body } of ofType(history, 'recourse.mutations', 'CompensationsExecuted'))
    if (body['execution_state'] === 'succeeded')
      costs(text(body, 'compensation_id'), body['value'], undefined, CLASS_WEIGHTS.irreversible);
}

/** A later attempt that was told that its effect is reserved, or asked about, and when. */
interface Holder {
  readonly attempt: number;
  readonly at: number;
}

/** What a later attempt holds is freed by no failure of a call that had begun before it asked. */
function checkKept(history: History): void {
  const asked = new Map(
    wireOf(history, 'recourse.budget-commands', 'ReserveBudget')
      .filter(({ body }) => number(body, 'attempt') > 1)
      .map(({ body }) => [text(nested(body, 'envelope'), 'command_id'), body]),
  );
  const failures = groupBy(
    ofType(history, 'recourse.mutations', 'MutationRecorded').filter(
      ({ body }) => body['execution_state'] === 'failed',
    ),
    ({ body }) => text(body, 'mutation_id'),
  );
  const holders = new Map<string, Holder>();
  for (const { type, body, decidedAt } of history.logs[BUDGETS] ?? []) {
    const ask = type === 'CommandAnswered' ? asked.get(text(body, 'command_id')) : undefined;
    if (ask !== undefined && isHeld(body)) {
      const { tenant } = nested(ask, 'envelope');
      const id = reservationId(String(tenant), text(ask, 'run_id'), text(ask, 'effect_key'));
      const attempt = number(ask, 'attempt');
      if (attempt > (holders.get(id)?.attempt ?? 1)) holders.set(id, { attempt, at: decidedAt });
    }
    if (type !== 'BudgetReleased') continue;
    const id = text(body, 'reservation_id');
    const at = holders.get(id)?.at;
    holders.delete(id);
    const ended = failures.get(mutationId(text(body, 'tenant'), text(body, 'run_id'), text(body, 'effect_key'))) ?? [];
    if (at !== undefined && body['cause'] === 'failed' && !ended.some((failure) => isAfter(failure, at)))
      broken(history, 'P8', 'kept', `${id} was freed by a call that failed before its holder asked`);
  }
}

function isHeld(answered: Fields): boolean {
  const { phase } = JSON.parse(text(answered, 'answer')) as Fields;
  return phase === 'reserved' || phase === 'escalated';
}

/** Did the call that failed begin, or did somebody find out that it had failed, after this? */
function isAfter({ body, decidedAt }: LogRecord, at: number): boolean {
  return number(nested(body, 'ref'), 'committed_at') > at || (body['found_out'] !== null && decidedAt > at);
}
