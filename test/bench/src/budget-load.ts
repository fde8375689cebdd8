// What agents ask the accountant for: asks of many runs in five dimensions, tenants by Zipf's law, one ask in a hundred beyond what
// its tenant's ceiling leaves; and what follows from that. Pure.
import { deriveId } from '@recourse/kernel';
import type { Money } from '@recourse/messages';

/** What each ask moves. What binds in law would always be a person's, so none of it is asked for. */
export const ASKED: readonly Money[] = [
  { currency: 'INR', amount_minor: 100 },
  { currency: 'comms', amount_minor: 1_000 },
  { currency: 'commitments', amount_minor: 1_000 },
  { currency: 'exposure', amount_minor: 1 },
  { currency: 'regulatory', amount_minor: 0 },
];
/** The dimension whose ceiling runs out. */
export const SCARCE = 'INR';
export const BEYOND_SHARE = 0.01;
/** The irrational part whose multiples lie evenly. */
const GOLDEN = 0.618_033_988_749_895;

export interface LoadSize {
  readonly runs: number;
  readonly asksPerRun: number;
  readonly tenants: number;
}

export interface Ask {
  readonly index: number;
  readonly tenant: string;
  readonly run: string;
  readonly effect: string;
}

export interface TenantLoad {
  readonly tenant: string;
  readonly asks: number;
  /** How many of them fit under its ceiling of what is scarce. */
  readonly fitting: number;
}

export interface BudgetLoad {
  readonly tenants: readonly TenantLoad[];
  readonly asks: readonly Ask[];
}

/** A load whose tenants nobody else has: `name` is part of their names. */
export function budgetLoad(name: string, { runs, asksPerRun, tenants }: LoadSize): BudgetLoad {
  const shares = zipfShares(tenants);
  const tenantOf = Array.from({ length: runs }, (_, run) => placeIn(shares, ((run + 1) * GOLDEN) % 1));
  const asks = Array.from({ length: runs * asksPerRun }, (_, index) => {
    const run = index % runs;
    return {
      index,
      tenant: tenantName(name, tenantOf[run] ?? 0),
      run: deriveId('run', name, run),
      effect: `step-${String(Math.floor(index / runs))}`,
    };
  });
  return { asks, tenants: withCeilings(name, tenantOf, asksPerRun) };
}

/** Ceilings of every tenant, by dimension; what is scarce leaves out one ask in a hundred of all. */
export function ceilingsOf({ asks, fitting }: TenantLoad): readonly Money[] {
  return ASKED.map(({ currency, amount_minor }) => ({
    currency,
    amount_minor: amount_minor * (currency === SCARCE ? fitting : asks),
  }));
}

/** The asks beyond are shared out by size, so that of all there are exactly as many as the share says. */
function withCeilings(name: string, tenantOf: readonly number[], asksPerRun: number): readonly TenantLoad[] {
  const counts = new Map<number, number>();
  for (const tenant of tenantOf) counts.set(tenant, (counts.get(tenant) ?? 0) + asksPerRun);
  let before = 0;
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([tenant, asks]) => {
      const after = before + asks * BEYOND_SHARE;
      const beyond = Math.floor(after + 1e-9) - Math.floor(before + 1e-9);
      before = after;
      return { tenant: tenantName(name, tenant), asks, fitting: asks - beyond };
    });
}

function tenantName(name: string, tenant: number): string {
  return `${name}-${String(tenant)}`;
}

/** Upper ends of the tenants' shares of 1: the n-th has 1/n of the first. */
function zipfShares(tenants: number): readonly number[] {
  const weights = Array.from({ length: tenants }, (_, at) => 1 / (at + 1));
  const total = weights.reduce((all, one) => all + one, 0);
  let end = 0;
  return weights.map((one) => (end += one / total));
}

function placeIn(ends: readonly number[], at: number): number {
  const place = ends.findIndex((end) => at < end);
  return place === -1 ? ends.length - 1 : place;
}

/** What the log says was reserved and escalated, by reservation and by tenant. */
export class LogRecount {
  readonly #used = new Map<string, number>();
  readonly #decided = new Set<string>();
  readonly #ceilings: ReadonlyMap<string, number>;
  #twice = 0;
  #overspend = 0;
  reserved = 0;
  escalated = 0;

  constructor(tenants: readonly TenantLoad[]) {
    this.#ceilings = new Map(
      tenants.flatMap((one) =>
        ceilingsOf(one).map(({ currency, amount_minor }) => [`${one.tenant} ${currency}`, amount_minor] as const),
      ),
    );
  }

  /** Adds a record, in the order of its partition: the sums hold after each, so in every prefix. */
  add(type: string, body: Readonly<Record<string, unknown>>): void {
    if (type !== 'BudgetReserved' && type !== 'BudgetEscalated') return;
    const id = String(body['reservation_id']);
    if (this.#decided.has(id)) this.#twice += 1;
    this.#decided.add(id);
    if (type === 'BudgetEscalated') {
      this.escalated += 1;
      return;
    }
    this.reserved += 1;
    const debits = body['debits'] as readonly { readonly currency: string; readonly value_minor: number }[]; // as reservations have them
    for (const { currency, value_minor } of debits) {
      const key = `${String(body['tenant'])} ${currency}`;
      const used = (this.#used.get(key) ?? 0) + value_minor;
      this.#used.set(key, used);
      this.#overspend = Math.max(this.#overspend, used - (this.#ceilings.get(key) ?? 0));
    }
  }

  /** Reservations that were decided more than once. */
  get twice(): number {
    return this.#twice;
  }

  /** The most that any tenant had beyond a ceiling, in any prefix; minor units. */
  get overspend(): number {
    return this.#overspend;
  }
}
