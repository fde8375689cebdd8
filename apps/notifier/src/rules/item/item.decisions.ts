// How a thing comes to wait, goes on waiting, and is over.
//
// Boundary: pure; a thing and what a record asks for -> what is known then.
import { deriveId } from '@recourse/kernel';
import { codeOf, isWaiting, keyOf, nameOf, ownerOf } from './item.messages.js';
import type { ItemKind, Known, Place, Thing, ThingChange, ThingKind, WaitingThing } from './item.messages.js';

/** What a record that asks people says of the question. */
export interface Asking {
  readonly deadline_at: number;
  readonly reason: string;
  readonly owner: string;
  readonly required_approvals?: number;
}

/** Makes the thing wait: anew, or still where it waits for the same. */
export function opens(
  thing: Thing,
  kind: ItemKind,
  { deadline_at: deadlineAt, reason, owner: asked, required_approvals: requiredApprovals = 0 }: Asking,
  place: Place,
): readonly ThingChange[] {
  const { item } = thing;
  const [code, owner] = [codeOf(reason), ownerOf(asked)];
  if (item?.kind === kind && item.reason === code) return puts({ ...thing, item: { ...item, deadlineAt, owner } });
  const opened = { kind, opening: nameOf(place), openedAt: place.at, deadlineAt, reason: code, owner };
  return puts({ ...thing, item: { ...opened, requiredApprovals, approvals: 0 } });
}

/** Asks people where the record asks for approvals; else the machine goes on. */
export function asks(thing: Thing, asking: Asking, place: Place): readonly ThingChange[] {
  return (asking.required_approvals ?? 0) > 0
    ? opens(thing, 'approval', asking, place)
    : puts({ ...thing, item: null });
}

/** Counts an approval; the last one asked for ends the waiting. */
export function agrees(known: Known, keys: readonly string[]): readonly ThingChange[] {
  return waiting(known, keys).flatMap(({ item, ...thing }) => {
    const approvals = item.approvals + 1;
    return puts({ ...thing, item: approvals >= item.requiredApprovals ? null : { ...item, approvals } });
  });
}

/** Leaves the item with whoever has it, and moves its deadline. */
export function moves(known: Known, keys: readonly string[], deadlineAt: number): readonly ThingChange[] {
  return waiting(known, keys).flatMap(({ item, ...thing }) => puts({ ...thing, item: { ...item, deadlineAt } }));
}

/** Waits for nobody any more; it may come to wait again. */
export function rests(known: Known, keys: readonly string[]): readonly ThingChange[] {
  return found(known, keys).flatMap((thing) => puts({ ...thing, item: null }));
}

/** Forgets what is over. */
export function ends(known: Known, keys: readonly string[]): readonly ThingChange[] {
  return found(known, keys).map((thing) => ({ op: 'forget', key: keyOf(thing) }));
}

export function puts(thing: Thing): readonly ThingChange[] {
  return [{ op: 'put', thing }];
}

function found(known: Known, keys: readonly string[]): readonly Thing[] {
  return keys.flatMap((key) => known(key) ?? []);
}

function waiting(known: Known, keys: readonly string[]): readonly WaitingThing[] {
  return found(known, keys).filter(isWaiting);
}

/** A thing that waits for nobody, of which a record says no more than this. */
export function bare(
  thing: ThingKind,
  id: string,
  { tenant, run_id: runId }: { readonly tenant: string; readonly run_id: string },
): Thing {
  return { thing, id, tenant, runId, recoveryId: null, stepId: null, capability: null, runbook: null, item: null };
}

/** Reads the keys of one kind of thing from the field that names it. */
function keysIn<Field extends string>(
  thing: Exclude<ThingKind, 'breaker'>,
  field: Field,
): (body: { readonly [Name in Field]: string }) => readonly string[] {
  return (body) => [keyOf({ thing, id: body[field] })];
}

export const stepOf = keysIn('step', 'step_id');
export const rollbackOf = keysIn('rollback', 'rollback_id');
export const trendOf = keysIn('trend', 'trend_id');
export const alarmOf = keysIn('alarm', 'alarm_id');
export const parkedOf = keysIn('parked', 'parked_id');
export const autonomyOf = keysIn('autonomy', 'autonomy_id');
export const taskOf = keysIn('task', 'task_id');
export const incidentOf = keysIn('incident', 'incident_id');
export const forwardOf = keysIn('forward', 'approval_id');
export const mutationOf = keysIn('mutation', 'mutation_id');
/** The breaker of one partition. */
export function breakerOf({
  breaker_id: id,
  run_id: runId,
}: {
  readonly breaker_id: string;
  readonly run_id: string;
}): readonly string[] {
  return [keyOf({ thing: 'breaker', id, runId })];
}
/** A consumer is waited for once a rollback. */
export function deliveryOf(body: { readonly rollback_id: string; readonly consumer: string }): readonly string[] {
  return [keyOf({ thing: 'delivery', id: deliveryIdOf(body) })];
}

/** The same derivation as the ledger's. */
export function deliveryIdOf({
  rollback_id: rollback,
  consumer,
}: {
  readonly rollback_id: string;
  readonly consumer: string;
}): string {
  return deriveId('dlv', rollback, consumer);
}

/** A runtime has at most one question at a time. */
export function divergenceOf(body: { readonly tenant: string; readonly runtime: string }): readonly string[] {
  return [keyOf({ thing: 'runtime', id: divergenceIdOf(body) })];
}

/** The same derivation as the ledger's. */
export function divergenceIdOf({ tenant, runtime }: { readonly tenant: string; readonly runtime: string }): string {
  return deriveId('dvg', tenant, runtime);
}

/** A reservation has at most one question at a time; it goes by the reservation. */
export const escalationOf = keysIn('escalation', 'reservation_id');
/** Decided under the same kind of question as a reservation. */
export const proposalOf = keysIn('escalation', 'proposal_id');
/** Version of a contract that waits for a second person: a capability has one at a time, and what it would be tells them apart. */
export function weakerOf(body: {
  readonly tenant: string;
  readonly name: string;
  readonly digest: Buffer;
}): readonly string[] {
  return [keyOf({ thing: 'proposal', id: weakerIdOf(body) })];
}

export function weakerIdOf({
  tenant,
  name,
  digest,
}: {
  readonly tenant: string;
  readonly name: string;
  readonly digest: Buffer;
}): string {
  return deriveId('prp', tenant, name, digest.toString('hex'));
}
