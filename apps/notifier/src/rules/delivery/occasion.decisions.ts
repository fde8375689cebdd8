// What endpoints are told when something comes to wait, waits on, or is over.
//
// Boundary: pure; (a thing before, a thing after, endpoints) -> deliveries to queue and deliveries nobody needs any more.
//
// Invariants
//   W1. The same endpoint, item and occasion is the same webhook id, whoever computes it and whenever.
//   W2. What is queued about an item ends with the item; a reminder follows its deadline. That an alarm was raised is told also when it is over.
//   W3. Of what was over when a log was read for the first time nobody is told.
import { deriveId } from '@recourse/kernel';
import type { OpenItem, Place, Thing, WaitingThing } from '../item/item.messages.js';
import { keyOf } from '../item/item.messages.js';
import { hears } from '../webhook/endpoint.messages.js';
import type { Endpoint } from '../webhook/endpoint.messages.js';
import type { Delivery, Notice, NoticeItem, Occasion } from './delivery.messages.js';

/** Deliveries about an item that nobody needs any more: all that are queued, or the reminders. */
export interface Superseding {
  readonly key: string;
  readonly opening: string;
  readonly only: Occasion | null;
}

export interface News {
  readonly queued: readonly Delivery[];
  readonly superseded: readonly Superseding[];
}

/** What to tell, given a thing before and after a record. `undefined` is a thing nobody knows. */
export function newsOf(
  before: Thing | undefined,
  after: Thing | undefined,
  endpoints: readonly Endpoint[],
  place: Place,
): News {
  const [was, is] = [before?.item ?? null, after?.item ?? null];
  if (was !== null && is?.opening === was.opening)
    return was.deadlineAt === is.deadlineAt || after === undefined ? NOTHING : movedOf(after, is, endpoints);
  const ended = before === undefined || was === null ? NOTHING : endedOf(before, was, endpoints, place);
  const opened = after === undefined || is === null ? [] : openedOf(after, is, endpoints);
  return { queued: [...ended.queued, ...opened], superseded: ended.superseded };
}

/** What of it is told where a log is read for the first time, up to where it ended then: what still waits, and no alarm that is over. */
export function toldFirst(news: News, before: Thing | undefined, after: Thing | undefined): News {
  const { queued, superseded } = toldAgain(news);
  const was = before?.item ?? null;
  if (before === undefined || was === null || after?.item?.opening === was.opening) return { queued, superseded };
  return { queued, superseded: [...superseded, { key: keyOf(before), opening: was.opening, only: null }] };
}

/** What of it is told where a log is read a second time: what still waits. The rest was told when it was read first. */
export function toldAgain({ queued, superseded }: News): News {
  const waiting = queued.filter(({ notice: { occasion } }) => occasion === 'opened' || occasion === 'reminder');
  return { queued: waiting, superseded };
}

/** What endpoints hear of a thing that waits, whenever they began to hear of it; of a deadline that is over nobody is reminded. */
export function waitingTo(thing: WaitingThing, endpoints: readonly Endpoint[], now: number): readonly Delivery[] {
  return openedOf(thing, thing.item, endpoints).filter(
    ({ notice: { occasion } }) => occasion !== 'reminder' || thing.item.deadlineAt > now,
  );
}

/** What is told once and waits for nobody. */
export function tellingOf(thing: WaitingThing, endpoints: readonly Endpoint[]): News {
  const { item } = thing;
  const at = item.openedAt;
  const queued = concerned(thing, item, endpoints).map((one) => deliveryOf(one, thing, item, { occasion: 'told', at }));
  return { queued, superseded: [] };
}

const NOTHING: News = { queued: [], superseded: [] };

function openedOf(thing: Thing, item: OpenItem, endpoints: readonly Endpoint[]): readonly Delivery[] {
  return concerned(thing, item, endpoints).flatMap((endpoint) => [
    deliveryOf(endpoint, thing, item, { occasion: 'opened', at: item.openedAt }),
    ...reminderOf(endpoint, thing, item),
  ]);
}

function movedOf(thing: Thing, item: OpenItem, endpoints: readonly Endpoint[]): News {
  return {
    queued: concerned(thing, item, endpoints).flatMap((endpoint) => reminderOf(endpoint, thing, item)),
    superseded: [{ key: keyOf(thing), opening: item.opening, only: 'reminder' }],
  };
}

/** An alarm has to be heard of, whoever says that it is over and however soon. */
function endedOf(thing: Thing, item: OpenItem, endpoints: readonly Endpoint[], place: Place): News {
  const told = concerned(thing, item, endpoints).filter(({ tellsEnds }) => tellsEnds);
  return {
    queued: told.map((endpoint) => deliveryOf(endpoint, thing, item, { occasion: 'ended', at: place.at })),
    superseded: [{ key: keyOf(thing), opening: item.opening, only: item.kind === 'alarm' ? 'reminder' : null }],
  };
}

function concerned({ tenant }: Thing, { kind }: OpenItem, endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return endpoints.filter((endpoint) => hears(endpoint, tenant, kind));
}

function reminderOf(endpoint: Endpoint, thing: Thing, item: OpenItem): readonly Delivery[] {
  const at = remindAt(item, endpoint.remindBeforeMs);
  return at === null ? [] : [deliveryOf(endpoint, thing, item, { occasion: 'reminder', at })];
}

/** A reminder never comes before this share of the item's time has passed: who was just asked need not be reminded. */
const SHARE_MIN = 0.5;

/** When an item that is still open is told of again; null for never. Units: epoch milliseconds. */
export function remindAt(
  { openedAt, deadlineAt }: Pick<OpenItem, 'openedAt' | 'deadlineAt'>,
  remindBeforeMs: number | null,
): number | null {
  if (remindBeforeMs === null || deadlineAt <= openedAt) return null;
  return Math.max(deadlineAt - remindBeforeMs, Math.ceil(openedAt + (deadlineAt - openedAt) * SHARE_MIN));
}

/** A delivery about an item, due from `at`. A reminder of another deadline is another one. */
function deliveryOf(
  endpoint: Endpoint,
  thing: Thing,
  item: OpenItem,
  { occasion, at }: { readonly occasion: Occasion; readonly at: number },
): Delivery {
  const key = keyOf(thing);
  const id = deriveId('msg', endpoint.name, key, item.opening, occasion, occasion === 'reminder' ? item.deadlineAt : 0);
  return queuedAt(
    {
      id,
      endpoint: endpoint.name,
      tenant: thing.tenant,
      about: { key, opening: item.opening },
      notice: { occasion, occurredAt: at, tenant: thing.tenant, item: factsOf(thing, item) },
    },
    at,
  );
}

function factsOf(
  { thing, id, runId, recoveryId, stepId, capability, runbook, log }: Thing,
  { kind, reason, owner, requiredApprovals, deadlineAt }: OpenItem,
): NoticeItem {
  return {
    thing,
    id,
    kind,
    runId,
    recoveryId,
    stepId,
    capability,
    runbook,
    log,
    owner,
    reason,
    requiredApprovals,
    deadlineAt,
  };
}

/** A notice that says that the endpoint works; each is its own. */
export function testOf(endpoint: Pick<Endpoint, 'name'>, tenant: string, nonce: string, now: number): Delivery {
  const notice: Notice = { occasion: 'test', occurredAt: now, tenant, item: null };
  return queuedAt(
    { id: deriveId('msg', endpoint.name, 'test', nonce), endpoint: endpoint.name, tenant, about: null, notice },
    now,
  );
}

function queuedAt(told: Pick<Delivery, 'id' | 'endpoint' | 'tenant' | 'about' | 'notice'>, at: number): Delivery {
  return { ...told, state: 'queued', attempts: 0, dueAt: at, nextAt: at, lastError: null, updatedAt: at };
}
