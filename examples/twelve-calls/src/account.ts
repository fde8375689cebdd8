// Accounts for one call: what the ledger says of it, what its service says, and where they differ. Pure.
import type { Contract } from '@recourse/contract';
import { factsOf, numberOf, textOf } from '@recourse/example-drifted-refund';
import type { Facts } from '@recourse/example-drifted-refund';
import { FORWARD, instant } from '@recourse/example-little-services';
import type { Call, Column, World } from '@recourse/example-little-services';
import { canonicalJson, sha256Hex } from '@recourse/kernel';

/** One line of the account. */
export interface Account {
  readonly at: number;
  readonly capability: string;
  readonly reversalClass: string;
  readonly idempotency: string;
  /** As the ledger has it. */
  readonly status: string;
  readonly undoableUntil: number | null;
  readonly recoveryApproval: string;
  /** Null where nothing undoes it. */
  readonly undo: string | null;
  readonly residue: string | null;
  /** How it was let through. */
  readonly gate: string;
  readonly mutationId: string;
  /** Where ledger and service differ, in words; empty when they agree. */
  readonly differences: readonly string[];
}

/** Ways an effect that cannot be undone may be let through. */
export type Gate = 'policy' | 'hold' | 'approval';

/** What is known of one call. */
export interface Evidence {
  readonly at: number;
  readonly call: Call;
  /** As the ledger shows it. */
  readonly mutation: Facts;
  readonly gate: Gate;
  readonly contract: Contract;
  readonly world: World;
}

/** Accounts for a call, from what was fetched of it. `world` holds the effects of this run alone. */
export function accountFor({ at, call, mutation, gate, contract, world }: Evidence): Account {
  const [ref, terms] = [factsOf(mutation, 'ref'), factsOf(mutation, 'terms')];
  const capability = textOf(ref['reversal_capability']);
  const args = factsOf(ref, 'reversal_args')['body'];
  return {
    at,
    capability: call.capability,
    reversalClass: textOf(ref['reversal_class']),
    idempotency: FORWARD[call.capability]?.idempotency ?? '',
    status: `${textOf(mutation['execution_state'])}, ${textOf(mutation['recoverability'])}`,
    undoableUntil: numberOf(ref['reversal_expires_at']),
    recoveryApproval: textOf(terms['recovery_approval_mode']),
    undo: capability === '' ? null : `${capability} ${typeof args === 'string' ? args : JSON.stringify(args)}`,
    residue: capability === '' ? (contract.compensation_mode?.reason ?? null) : textOf(terms['residue']) || null,
    gate,
    mutationId: textOf(mutation['mutation_id']),
    differences: differencesOf(call, mutation, world),
  };
}

/** Does each side know the same effect, once? */
function differencesOf(call: Call, mutation: Facts, { effects, things }: World): readonly string[] {
  const spec = FORWARD[call.capability];
  if (spec === undefined) return [`no adapter has ${call.capability}`];
  const service = spec.operation.slice(0, spec.operation.indexOf('.'));
  const execution = factsOf(mutation, 'execution');
  const digest = sha256Hex(canonicalJson(call.args));
  const mine = effects.filter((effect) => effect.operation === spec.operation && effect.request === digest);
  const [effect] = mine;
  const thing = effect === undefined ? undefined : things[`${service}/${effect.thing}`];
  const handle = factsOf(mutation, 'ref')['external_transaction_ref'];
  const result = resultOf(execution);
  return [
    ...(textOf(mutation['mutation_id']) === '' ? ['the ledger has no record'] : []),
    ...(mine.length === 1 ? [] : [`the service has ${String(mine.length)} effects of it`]),
    ...(execution['capability'] === call.capability || mutation['capability'] === call.capability
      ? []
      : ['the ledger names another capability']),
    ...(mutation['execution_state'] === 'succeeded' ? [] : [`the ledger says ${textOf(mutation['execution_state'])}`]),
    ...(spec.repeat.by !== 'key' || effect?.key === execution['idempotency_key']
      ? []
      : ['the service knows it under another key']),
    ...(!spec.hasHandle || handle === effect?.thing
      ? []
      : [`the ledger's handle is ${textOf(handle)}, the service's ${textOf(effect?.thing)}`]),
    ...(result === null || (thing !== undefined && canonicalJson(thing) === canonicalJson(result))
      ? []
      : ['the result on record is not what the service holds']),
    ...(effect?.requests === 1 ? [] : [`it was asked for ${String(effect?.requests ?? 0)} times`]),
  ];
}

/** When the hold of a mutation ends, in epoch milliseconds; null when it was never held. */
export function heldUntil(mutation: Facts): number | null {
  return numberOf(factsOf(mutation, 'forward', 'hold')['until']);
}

/** Did a held call take effect before its hold was over, by the service's own clock, or without a hold at all? */
export function wentEarly({ capability, args }: Call, mutation: Facts, { effects }: World): boolean {
  const until = heldUntil(mutation);
  const digest = sha256Hex(canonicalJson(args));
  return (
    until === null ||
    effects.some(
      (effect) => effect.operation === FORWARD[capability]?.operation && effect.request === digest && effect.at < until,
    )
  );
}

/** The result on record; null where the record has none (a hold is let go by a worker, whose report carries a handle). */
function resultOf(execution: Facts): unknown {
  const body = factsOf(execution, 'result')['body'];
  return typeof body === 'string' ? (JSON.parse(body) as unknown) : (body ?? null);
}

/** What is left to be said of the whole: effects that no call accounts for. */
export function unaccounted(calls: readonly Call[], { effects }: World): readonly string[] {
  const known = new Set(
    calls.map(({ capability, args }) => `${FORWARD[capability]?.operation ?? ''} ${sha256Hex(canonicalJson(args))}`),
  );
  return effects
    .filter(({ operation, request }) => !known.has(`${operation} ${request}`))
    .map(({ operation, thing }) => `${operation} ${thing}`);
}

/** The world as far as it came after an effect: one run's, when nobody else acts. */
export function since(world: World, seq: number): World {
  return {
    ...world,
    effects: world.effects.filter((effect) => effect.seq > seq),
    notices: world.notices.filter((notice) => notice.seq > seq),
  };
}

export const ACCOUNT_COLUMNS: readonly Column<Account>[] = [
  { title: '#', of: ({ at }) => String(at) },
  { title: 'CALL', of: ({ capability }) => capability },
  { title: 'CLASS', of: ({ reversalClass }) => reversalClass },
  { title: 'A REPEAT IS TOLD BY', of: ({ idempotency }) => idempotency },
  { title: 'LET THROUGH BY', of: ({ gate }) => gate },
  { title: 'IN THE LEDGER', of: ({ status }) => status },
  { title: 'UNDOABLE UNTIL', of: ({ undoableUntil }) => instant(undoableUntil) },
  { title: 'UNDO NEEDS', of: ({ undo, recoveryApproval }) => (undo === null ? null : recoveryApproval) },
  { title: 'UNDO WOULD CALL', of: ({ undo }) => undo ?? 'nothing: a person writes a follow-up' },
  { title: 'WHAT STAYS', of: ({ residue }) => residue },
];
