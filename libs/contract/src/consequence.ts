// Consequence: what a call moves and leaves behind, by unit, and what of that counts as debt.
//
// Boundary: pure. The guard reads it before the call, without a result; the ledger when it accepts the execution; and the
// accountant weighs it under the contract it ran under.
import type { Json } from '@recourse/kernel';
import { deriveId } from '@recourse/kernel';
import type { Debit, Money, Payload, ReversalClass } from '@recourse/messages';
import { CLASS_WEIGHTS, weightOf } from './class.js';
import { evaluateAmount, namesIn } from './condition.js';
import { readPointer } from './json-pointer.js';
import type { Contract } from './shape.js';

/** Unit of the debt in disclosures, where money has its currency: one for each call that discloses. */
export const EXPOSURE = 'exposure';

/** What only people let happen, whatever the ceiling (A82). */
export const REGULATORY = 'regulatory';

/** What is counted rather than paid. */
export const COUNTED_UNITS = ['comms', 'commitments', EXPOSURE, REGULATORY] as const;
type CountedUnit = (typeof COUNTED_UNITS)[number];

/** Minor units of one: a weight of 0.1 on one message is a tenth of it. What weighs in full has no smaller unit. */
export const MINOR_PER_ONE = { comms: 1_000, commitments: 1_000, exposure: 1, regulatory: 1 } as const satisfies Record<
  CountedUnit,
  number
>;

/** Units that no class makes weigh less: what is disclosed stays so, and what binds in law binds. */
const WEIGHS_IN_FULL: readonly string[] = [EXPOSURE, REGULATORY];

const CURRENCY = /^[A-Z]{3}$/;

/** A currency, or a unit that is counted. */
export function isUnit(text: string): boolean {
  return isCounted(text) || CURRENCY.test(text);
}

function isCounted(text: string): text is CountedUnit {
  return COUNTED_UNITS.some((unit) => unit === text);
}

/** What is known of a call. */
export interface CallFacts {
  readonly args: Json;
  /** How the arguments are marked. */
  readonly argsPayload: Pick<Payload, 'content_type'>;
  /** Null before the call, and where nobody heard it. */
  readonly result: Json | null;
  readonly resultPayload: Pick<Payload, 'content_type'> | null;
}

/** What a call moves. */
export interface Consequence {
  /** By unit; each at most once. A unit that is known to be untouched stands with 0. */
  readonly values: readonly Money[];
  /** Units that its contract declares and nobody could read. */
  readonly unread: readonly string[];
}

/**
 * Reads what a call moves, by unit.
 *
 * Shape:  what reads a result is `unread` until there is one. Disclosures are counted from marks on arguments and result too.
 * Units:  minor units of a currency, or MINOR_PER_ONE of what is counted.
 * Errors: none; what cannot be read, or says no amount from 0, is `unread` and never 0.
 */
export function consequenceOf(contract: Contract | null, facts: CallFacts): Consequence {
  return readAs(contract, facts, contract === null ? null : valueOf(contract, facts.args));
}

/** `value`: what it was worth, as its arguments say or said. */
function readAs(contract: Contract | null, facts: CallFacts, value: Money | null): Consequence {
  if (contract === null) return { values: disclosed(null, facts, null), unread: [] };
  const read = Object.entries(contract.consequence ?? {}).map(([dimension, expression]) => ({
    dimension,
    amount: amountOf(expression, facts),
  }));
  const amountIn = (dimension: string) => read.find((one) => one.dimension === dimension)?.amount ?? null;
  const counted = COUNTED_UNITS.filter((unit) => unit !== EXPOSURE).flatMap((unit) => {
    const amount = amountIn(unit);
    return amount === null ? [] : [{ amount_minor: amount * MINOR_PER_ONE[unit], currency: unit }];
  });
  const money = moneyOf(contract, value, amountIn('money'));
  const values = [...(money === null ? [] : [money]), ...counted, ...disclosed(contract, facts, amountIn(EXPOSURE))];
  // More than can be counted in minor units is no number either.
  const isPast = (unit: string) => values.some((one) => has(unit)(one) && !isCountable(one));
  return {
    values: values.filter(isCountable),
    unread: [
      ...read.flatMap(({ dimension, amount }) =>
        dimension !== 'money' && (amount === null || isPast(dimension)) ? [dimension] : [],
      ),
      ...(declaresMoney(contract) && money === null ? ['money'] : []),
    ],
  };
}

/** Does a call move money, as its contract says? */
export function declaresMoney({ value, consequence }: Pick<Contract, 'value' | 'consequence'>): boolean {
  return value !== undefined || consequence?.money !== undefined;
}

/** What a call that was made moved at the least: who cannot read how many it sent knows that it sent one. */
export function atLeast({ values, unread }: Consequence): readonly Money[] {
  const missing = COUNTED_UNITS.filter((unit) => unread.includes(unit) && !values.some(has(unit)));
  return [...values, ...missing.map((unit) => ({ amount_minor: MINOR_PER_ONE[unit], currency: unit }))];
}

/**
 * What is known of a call that was made and whose data was erased since, by unit.
 *
 * Shape:  what its contract says of every call alike, and `value`, as it was read before. What its arguments or its answer told is
 *         missing: the least that it was would stand for what was reserved, and free the rest.
 */
export function knownOfErased(
  contract: Contract | null,
  value: Money | null,
  marks: Pick<CallFacts, 'argsPayload' | 'resultPayload'>,
): readonly Money[] {
  const told = Object.entries(contract?.consequence ?? {}).flatMap(([dimension, expression]) =>
    namesIn(expression).length > 0 && !(dimension === 'money' && isItsValue(contract, expression)) ? [dimension] : [],
  );
  return atLeast(readAs(contract, { args: null, result: null, ...marks }, value)).filter(
    ({ currency }) => !told.includes(isCounted(currency) ? currency : 'money'),
  );
}

/** Does the money of a call have the amount of its value, by the same argument? Names that are none of an expression say something else there. */
export function isItsValue(contract: Contract | null, money: string): boolean {
  const said = money.trim();
  return PATH.test(said) && said === `args${(contract?.value?.amount ?? '').replaceAll('/', '.')}`;
}

/** An argument within the arguments, as an expression names it. */
const PATH = /^args(?:\.[A-Za-z_]\w*)+$/;

const has =
  (unit: string) =>
  ({ currency }: Money): boolean =>
    currency === unit;

function isCountable({ amount_minor }: Money): boolean {
  return Number.isSafeInteger(amount_minor);
}

/** Units that a contract counts by what a call answers: nobody knows them before it. */
export function knownAfterwards(contract: Contract): readonly string[] {
  return Object.entries(contract.consequence ?? {}).flatMap(([dimension, expression]) =>
    namesIn(expression).includes('result') ? [dimension] : [],
  );
}

function amountOf(expression: string, { args, result }: CallFacts): number | null {
  if (result === null && namesIn(expression).includes('result')) return null;
  return evaluateAmount(expression, { args, result });
}

/** An expression says how much, the value in which currency; without an expression the value says both. */
function moneyOf(contract: Contract, value: Money | null, amount: number | null): Money | null {
  const currency = value?.currency ?? contract.blast_radius?.max_value_per_run?.currency ?? null;
  return amount === null || currency === null ? value : { amount_minor: amount, currency };
}

/** `said`: what its contract says of it; null where it says nothing, or nobody can read that. */
function disclosed(contract: Contract | null, facts: CallFacts, said: number | null): readonly Money[] {
  const marked = [facts.argsPayload, facts.resultPayload].map((payload) =>
    payload === null ? 0 : exposureOf(contract ?? undefined, payload),
  );
  const amount = Math.max(said ?? 0, ...marked);
  return amount === 0 && said === null ? [] : [{ amount_minor: amount, currency: EXPOSURE }];
}

/**
 * Weighs what a call moves.
 *
 * Shape:  an unknown contract (undefined) weighs by the class its record says. Money of a compensable effect weighs at least
 *         what its recovery is declared to cost (A77).
 * Units:  minor units, rounded up.
 */
export function debitsOf(
  contract: Contract | undefined,
  reversalClass: ReversalClass,
  values: readonly Money[],
): readonly Debit[] {
  const weight = contract === undefined ? CLASS_WEIGHTS[reversalClass] : weightOf(contract);
  return values.map((value) => {
    const debt = weighted(value, WEIGHS_IN_FULL.includes(value.currency) ? 1 : weight).amount_minor;
    return {
      currency: value.currency,
      value_minor: value.amount_minor,
      debit_minor: Math.max(debt, weight === 0 ? 0 : recoveryCostOf(contract, value)),
    };
  });
}

function recoveryCostOf(contract: Contract | undefined, { amount_minor, currency }: Money): number {
  const cost = contract?.reversal_class === 'compensable' ? contract.recovery_cost?.value : undefined;
  return amount_minor > 0 && cost?.currency === currency ? cost.amount_minor : 0;
}

// Money: what a call moves, and what of it counts as debt.

/** Weights have three decimals, so that debts are computed in whole numbers. */
const WEIGHT_SCALE = 1_000;

/**
 * Reads the money a call moves from its arguments.
 *
 * Units:  minor units of the currency.
 * Errors: none; null when the contract has no value expression, or the arguments hold no whole amount of at least 0.
 */
export function valueOf(contract: Contract, args: Json): Money | null {
  if (contract.value === undefined) return null;
  const amount = readPointer(args, contract.value.amount);
  const currency = contract.value.currency.startsWith('/')
    ? readPointer(args, contract.value.currency)
    : contract.value.currency;
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) return null;
  return typeof currency === 'string' && CURRENCY.test(currency) ? { amount_minor: amount, currency } : null;
}

/** Reads the business subject of a call; null when the contract names none or it is not there. */
export function subjectOf(contract: Contract, args: Json): string | null {
  const found = contract.subject === undefined ? undefined : readPointer(args, contract.subject);
  return typeof found === 'string' ? found : typeof found === 'number' ? String(found) : null;
}

/**
 * Weighs a value.
 *
 * Units:  minor units, rounded up; whole-number arithmetic, so 0.1 × 30 is 3.
 */
export function weighted(value: Money, weight: number): Money {
  const scaled = BigInt(value.amount_minor) * BigInt(Math.round(weight * WEIGHT_SCALE));
  const scale = BigInt(WEIGHT_SCALE);
  return { amount_minor: Number((scaled + scale - 1n) / scale), currency: value.currency };
}

// Exposure: how sensitive a payload says it is, and what of that leaves with a call.

/** Id of what is reserved for an effect. */
export function reservationId(tenant: string, runId: string, effectKey: string): string {
  return deriveId('res', tenant, runId, effectKey);
}

/** Ascending: a payload is as sensitive as the most sensitive thing in it. */
export const SENSITIVITIES = ['internal', 'personal', 'payment', 'regulatory'] as const;
/** How sensitive a payload is. */
export type Sensitivity = (typeof SENSITIVITIES)[number];

/** How sensitive a payload says it is, sealed or not; unmarked ones are internal, marks that are not known count as regulatory. */
export function sensitivityOf({ content_type: type }: Pick<Payload, 'content_type'>): Sensitivity {
  const mark = /;\s*sensitivity=([^;\s]+)/.exec(type)?.[1];
  return mark === undefined ? 'internal' : (SENSITIVITIES.find((each) => each === mark) ?? 'regulatory');
}

/** Approval modes of calls whose arguments stay here, unless their contract says what they disclose. */
const STAYS_HERE: readonly string[] = ['read_only', 'local_write'];

/**
 * Counts what a call discloses to somebody outside.
 *
 * Shape:  1 for arguments that are marked personal, payment or regulatory, under a contract that lets them leave; an unknown
 *         contract lets everything leave.
 * Units:  disclosures; what is disclosed stays so, which is why no class makes it weigh less.
 * Source: requirements D61, A81.
 */
export function exposureOf(contract: Contract | undefined, args: Pick<Payload, 'content_type'>): number {
  if (sensitivityOf(args) === 'internal') return 0;
  return contract !== undefined &&
    STAYS_HERE.includes(contract.approval_mode) &&
    contract.consequence?.exposure === undefined
    ? 0
    : 1;
}
