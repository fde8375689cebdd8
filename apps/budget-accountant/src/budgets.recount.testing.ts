// Counts anew from the records of the log, and from nothing else, what the accountant's rows hold.
//
// Each record adds signed amounts to its reservation. A budget counts them where they lie in its scope and window; what was counted
// in a window that is over frees nothing of the one that runs, and one over a window counts nothing of before it was set.
import type { AcceptedRecord } from '@recourse/event-log';
import type { Debit, Raise } from '@recourse/messages';

type Doc = Readonly<Record<string, unknown>>;

interface Who {
  readonly id: string;
  readonly tenant: string;
  readonly run: string;
  readonly agent: string | null;
  readonly capability: string | null;
  readonly subject: string | null;
}

interface Entry {
  readonly who: Who;
  readonly unit: string;
  readonly debt: number;
  readonly value: number;
  readonly calls: number;
  readonly isRefund: boolean;
  readonly at: number;
  /** When its reservation was counted first. */
  readonly first: number;
}

interface Known {
  readonly who: Who;
  readonly held: readonly Debit[];
  readonly isHeld: boolean;
  readonly first: number | null;
}

/** What a record adds. */
interface Delta {
  /** What its reservation holds from now on. */
  readonly held: readonly Debit[];
  readonly deltas: readonly Debit[];
  readonly calls: number;
  readonly at: number;
  readonly isRefund?: boolean;
}

const LENGTH: Readonly<Record<string, number>> = { hour: 3_600_000, day: 86_400_000 };
const NO_UNIT: readonly Debit[] = [{ currency: '', value_minor: 0, debit_minor: 0 }];

function textIn(body: Doc, name: string): string | null {
  const value = body[name];
  return typeof value === 'string' ? value : null;
}

/** Debits of a body; records of the log say them so. */
function debitsIn(body: Doc): readonly Debit[] {
  return (body['debits'] ?? []) as readonly Debit[];
}
function minus(left: readonly Debit[], right: readonly Debit[], sign = -1): readonly Debit[] {
  const units = new Set([...left, ...right].map(({ currency }) => currency));
  const sum = (currency: string, name: 'value_minor' | 'debit_minor') =>
    total(left, currency, name) + sign * total(right, currency, name);
  return [...units].map((currency) => ({
    currency,
    value_minor: sum(currency, 'value_minor'),
    debit_minor: sum(currency, 'debit_minor'),
  }));
}
function total(debits: readonly Debit[], unit: string, name: 'value_minor' | 'debit_minor'): number {
  return debits.filter(({ currency }) => currency === unit).reduce((all, one) => all + one[name], 0);
}

/** A ceiling that was higher for one reservation, since when. */
interface Raised extends Raise {
  readonly id: string;
  readonly at: number;
}

/** Since when a ceiling over a window counts: as many entries were there before. */
interface Began {
  readonly entries: number;
  readonly at: number;
}

export class Recount {
  readonly #began = new Map<string, Began>();
  readonly #entries: Entry[] = [];
  readonly #known = new Map<string, Known>();
  readonly #raised: Raised[] = [];

  add({ type, body: { members, ...body } }: AcceptedRecord, at: number): void {
    if (Array.isArray(members))
      for (const member of members as readonly Doc[]) this.#add(type, { ...body, ...member }, at);
    else this.#add(type, body, at);
  }

  #add(type: string, body: Doc, at: number): void {
    const id = textIn(body, 'reservation_id') ?? '';
    const debits = debitsIn(body);
    const before = this.#known.get(id);
    if (type === 'BudgetOpened' && body['window'] !== 'life' && !this.#began.has(placeOf(body)))
      this.#began.set(placeOf(body), { entries: this.#entries.length, at });
    if (type === 'EscalationDecided')
      for (const raise of (body['raised'] ?? []) as readonly Raise[]) this.#raised.push({ ...raise, id, at });
    if (type === 'BudgetReserved') this.#change(this.#asked(id, body), { held: debits, deltas: debits, calls: 1, at });
    else if (type === 'BudgetEscalated') this.#known.set(id, this.#asked(id, body));
    else if (type === 'BudgetDebited' || type === 'BudgetOverrun') this.#happened(id, body, at);
    else if (before !== undefined) this.#goneOn(type, before, debits, at);
  }

  /** Something happened that was not reserved, or more than was: what was held for it stays where it counts. */
  #happened(id: string, body: Doc, at: number): void {
    const known = this.#known.get(id);
    const standing = known?.isHeld === true ? known : { ...this.#asked(id, body), first: known?.first ?? null };
    const debits = debitsIn(body);
    const [held, calls] = standing.isHeld ? [minus(standing.held, debits, 1), 0] : [debits, 1];
    this.#change(standing, { held, deltas: debits, calls, at });
  }

  /** What was asked for before is let through, used, given back or taken back. */
  #goneOn(type: string, before: Known, debits: readonly Debit[], at: number): void {
    const { held, isHeld } = before;
    if (type === 'EscalationDecided' && debits.length > 0 && !isHeld)
      this.#change(before, { held: debits, deltas: debits, calls: 1, at });
    if (type === 'BudgetSettled') this.#change(before, { held: debits, deltas: minus(debits, held), calls: 0, at });
    if (type === 'BudgetRefunded')
      this.#change(before, { held: minus(held, debits), deltas: minus([], debits), calls: 0, at, isRefund: true });
    if (type !== 'BudgetReleased' || !isHeld) return;
    this.#change(before, { held: [], deltas: minus([], debits), calls: -1, at });
    this.#known.set(before.who.id, { ...before, held: [], isHeld: false });
  }

  /** Whether a scope has more than its ceilings now, whatever it is refunded as. */
  beyondCeiling(budget: Doc, now: number): readonly string[] {
    const { used_minor, moved_minor, refunded_minor, moved_back_minor } = this.of(budget, now);
    const debt = used_minor + (budget['refunds'] === 'gross' ? refunded_minor : 0);
    const value = moved_minor + (budget['value_refunds'] === 'gross' ? moved_back_minor : 0);
    const over = (used: number, ceiling: unknown, measure: string) =>
      typeof ceiling === 'number' && used > ceiling + this.#higherBy(budget, measure, now);
    return [
      ...(over(debt, budget['ceiling_minor'], 'debt') && this.#reservedLast(budget, 'debt') ? ['debt'] : []),
      ...(over(value, budget['value_ceiling_minor'], 'value') && this.#reservedLast(budget, 'value') ? ['value'] : []),
    ];
  }

  /** By how much a ceiling is higher now: each raise as long as what it was for counts against this very ceiling, and no more. */
  #higherBy(budget: Doc, measure: string, now: number): number {
    const since = this.windowAt(budget, now);
    const isGross = budget[measure === 'debt' ? 'refunds' : 'value_refunds'] === 'gross';
    const own = this.#raised.filter(
      (one) =>
        one.measure === measure &&
        one.at >= since &&
        (['scope', 'scope_id', 'currency', 'window'] as const).every((name) => one[name] === budget[name]),
    );
    return own.reduce((all, { id, by_minor }) => {
      const counted = this.#entries
        .filter(({ who, unit, isRefund }) => who.id === id && unit === budget['currency'] && !(isRefund && isGross))
        .map((one) => this.#counted(one, budget, since))
        .reduce((sum, one) => sum + (measure === 'debt' ? one.debt : one.value), 0);
      return all + Math.min(by_minor, counted);
    }, 0);
  }

  /** Counts of a budget within its window. */
  of(budget: Doc, now: number) {
    const since = this.windowAt(budget, now);
    const own = this.#entries.filter(
      ({ who, unit, at }, place) =>
        unit === budget['currency'] &&
        at >= since &&
        place >= (this.#began.get(placeOf(budget))?.entries ?? 0) &&
        isOf(who, budget),
    );
    const counted = own.map((one) => this.#counted(one, budget, since));
    const refunds = counted.filter(({ isRefund }) => isRefund);
    const sum = (entries: readonly Entry[], name: 'debt' | 'value') => entries.reduce((all, one) => all + one[name], 0);
    return {
      used_minor: sum(counted, 'debt'),
      moved_minor: sum(counted, 'value'),
      refunded_minor: 0 - sum(refunds, 'debt'),
      moved_back_minor: 0 - sum(refunds, 'value'),
    };
  }

  /** What counts of an entry: nothing is freed of what was counted in another window, or before or while the ceiling was set. */
  #counted(one: Entry, budget: Doc, since: number): Entry {
    const isOld = one.first < since || one.first <= (this.#began.get(placeOf(budget))?.at ?? -1);
    return isOld ? { ...one, debt: Math.max(0, one.debt), value: Math.max(0, one.value) } : one;
  }

  windowAt(budget: Doc, now: number): number {
    const length = LENGTH[String(budget['window'])];
    return length === undefined ? 0 : Math.floor(now / length) * length;
  }

  calls(of: Doc, capability: string): number {
    return this.#of(of, capability).reduce((all, { calls }) => all + calls, 0);
  }

  subjects(of: Doc, capability: string): number {
    const bySubject = Map.groupBy(this.#of(of, capability), ({ who }) => who.subject);
    return [...bySubject.values()].filter((own) => own.reduce((all, { calls }) => all + calls, 0) > 0).length;
  }

  /** Reservations of which more was freed than ever debited, in any unit. */
  freedBeyondDebits(): readonly string[] {
    const byUnit = Map.groupBy(this.#entries, ({ who, unit }) => `${who.id} ${unit}`);
    return [...byUnit].flatMap(([key, own]) =>
      own.reduce((all, { debt }) => all + debt, 0) < 0 || own.reduce((all, { value }) => all + value, 0) < 0
        ? [key]
        : [],
    );
  }

  /** A ceiling that was lowered below what is used stays exceeded: what counts is whether the last reservation added to it. */
  #reservedLast(budget: Doc, name: 'debt' | 'value'): boolean {
    const last = this.#entries.at(-1);
    if (last === undefined) return false;
    return this.#entries.some(
      (one) =>
        one.who.id === last.who.id &&
        one.at === last.at &&
        one.unit === budget['currency'] &&
        one[name] > 0 &&
        isOf(one.who, budget),
    );
  }

  #of({ run_id, capability: called }: Doc, capability: string): readonly Entry[] {
    if (called !== capability) return [];
    return this.#entries.filter(
      ({ who, isRefund }) => who.run === run_id && who.capability === capability && !isRefund,
    );
  }

  #asked(id: string, body: Doc): Known {
    const who = {
      id,
      tenant: textIn(body, 'tenant') ?? '',
      run: textIn(body, 'run_id') ?? '',
      agent: textIn(body, 'agent_id'),
      capability: textIn(body, 'capability'),
      subject: textIn(body, 'subject_id'),
    };
    return { who, held: debitsIn(body), isHeld: false, first: null };
  }

  #change(of: Known, { held, deltas, calls, at, isRefund = false }: Delta): void {
    const { who } = of;
    const first = of.first ?? at;
    this.#known.set(who.id, { ...of, held, isHeld: true, first });
    for (const [place, { currency: unit, debit_minor: debt, value_minor: value }] of (deltas.length > 0
      ? deltas
      : NO_UNIT
    ).entries())
      this.#entries.push({ who, unit, debt, value, calls: place === 0 ? calls : 0, isRefund, at, first });
  }
}

function placeOf({ scope, scope_id, currency, window }: Doc): string {
  return JSON.stringify([scope, scope_id, currency, window]);
}

function isOf({ tenant, run, agent }: Who, budget: Doc): boolean {
  if (tenant !== budget['tenant']) return false;
  switch (budget['scope']) {
    case 'run':
      return run === budget['scope_id'];
    case 'agent':
      return agent === budget['scope_id'];
    default:
      return true;
  }
}
