// What can come to wait for a person, as far as somebody is told of it: ids, codes, counts and instants, and no text that a
// person or an agent wrote. What is not in these types cannot leave this process.

/** Things of the logs that people are asked about. */
export const THINGS = [
  'step',
  'rollback',
  'task',
  'incident',
  'forward',
  'escalation',
  'breaker',
  'mutation',
  'delivery',
  'runtime',
  'trend',
  'alarm',
  'autonomy',
  'ceiling',
  'parked',
  'proposal',
] as const;
export type ThingKind = (typeof THINGS)[number];

/** What somebody waits for. */
export const ITEM_KINDS = [
  'approval',
  'manual',
  'halted',
  'rollback',
  'task',
  'incident',
  'forward_approval',
  'budget',
  'breaker',
  'execution',
  'exposure',
  'escalated',
  'window',
  'delivery',
  'divergence',
  'trend',
  'alarm',
  'freeze',
  'ceiling',
  'parked',
  'proposal',
] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

/** An item that is open: one waiting of one thing. A thing that comes to wait again is another item. */
export interface OpenItem {
  readonly kind: ItemKind;
  /** Place of the record that opened it, `topic/partition/seq`: what tells two waitings of one thing apart. */
  readonly opening: string;
  /** Epoch milliseconds. */
  readonly openedAt: number;
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  /** A code; never a sentence. */
  readonly reason: string;
  /** A role, `adapter:…`, or that it is a person. */
  readonly owner: string;
  readonly requiredApprovals: number;
  /** Given since it opened. */
  readonly approvals: number;
}

/** One thing of a log, and whether it waits. */
export interface Thing {
  readonly thing: ThingKind;
  /** As its service names it: `step_id`, `task_id`, … */
  readonly id: string;
  readonly tenant: string;
  readonly runId: string;
  readonly recoveryId: string | null;
  readonly stepId: string | null;
  readonly capability: string | null;
  /** What its contract has a person work from: a link or a path. */
  readonly runbook: string | null;
  /** Where in the logs and wires it is: `topic/partition`, and `/offset` of one record. Absent where it is about none. */
  readonly log?: string | undefined;
  readonly item: OpenItem | null;
}

/** A thing that waits for a person. */
export type WaitingThing = Thing & { readonly item: OpenItem };

/** Does it wait for a person? */
export function isWaiting(thing: Thing): thing is WaitingThing {
  return thing.item !== null;
}

/** What a record does to what is known: a thing as it is now, or one that will never wait again. */
export type KnownChange =
  { readonly op: 'put'; readonly thing: Thing } | { readonly op: 'forget'; readonly key: string };

/** What follows from a record: something is known otherwise, or somebody is told of what nobody has to decide. */
export type ThingChange = KnownChange | { readonly op: 'tell'; readonly thing: WaitingThing };

/** What is known of a thing, by its key. */
export type Known = (key: string) => Thing | undefined;

/** Where a record stands, and when it was decided; epoch milliseconds. */
export interface Place {
  readonly topic: string;
  readonly partition: number;
  readonly seq: number;
  readonly at: number;
}

/** What names a thing. Each partition has a breaker of its own under one id: the run that opened it tells which. */
export type Named =
  | { readonly thing: Exclude<ThingKind, 'breaker'>; readonly id: string }
  | { readonly thing: 'breaker'; readonly id: string; readonly runId: string };

/** Name of a thing among those of all kinds. */
export function keyOf(named: Named): string {
  const { thing, id } = named;
  return named.thing === 'breaker' ? `${thing}:${id}:${named.runId}` : `${thing}:${id}`;
}

/** Name of the place of a record. */
export function nameOf({ topic, partition, seq }: Place): string {
  return `${openingsIn(topic, partition)}${String(seq)}`;
}

/** What openings by records of a partition begin with. */
export function openingsIn(topic: string, partition: number): string {
  return `${topic}/${String(partition)}/`;
}

/** Was it opened by a record of this partition? */
export function isOpenedIn(opening: string, topic: string, partition: number): boolean {
  return opening.startsWith(openingsIn(topic, partition));
}

const CODE = /^[A-Za-z][A-Za-z0-9_]{0,63}$/;
/** `adapter.verb_noun`, as contracts name capabilities; a producer without one can write anything there. */
const CAPABILITY = /^[a-z][a-z0-9-]{0,62}\.[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/;
const CAPABILITY_MAX = 128;
const UNRECOGNIZED = 'UNRECOGNIZED';

/** A reason that is a code; whatever else stands there is not repeated. */
export function codeOf(text: string): string {
  return CODE.test(text) ? text.toUpperCase() : UNRECOGNIZED;
}

/** A capability that has the form of one; null for whatever else stands there. */
export function capabilityOf(text: string): string | null {
  return text.length <= CAPABILITY_MAX && CAPABILITY.test(text) ? text : null;
}

/** A topic as ours are named. */
const TOPIC = /^[a-z0-9][a-z0-9._-]{0,248}$/;

/** A place in a log or wire as people read it; nothing where no topic of ours is named so. */
export function logOf(topic: string, ...place: readonly number[]): string | undefined {
  return TOPIC.test(topic) ? [topic, ...place].join('/') : undefined;
}

const OWNER = /^(?:role|adapter|service):[a-z][a-z0-9_-]{0,62}$/;
/** An owner who is named by a subject: who that is, the item itself shows. */
const SOMEBODY = 'a person';

/** An owner by role, adapter or service; nobody is named. */
export function ownerOf(text: string): string {
  return OWNER.test(text) ? text : SOMEBODY;
}

const RUNBOOK = /^(?:https:\/\/)?[A-Za-z0-9][A-Za-z0-9._~/#?=&%+-]{0,511}$/;

/** A runbook that is a link or a path; null for prose, which stays with the item. */
export function runbookOf(text: string | null | undefined): string | null {
  return typeof text === 'string' && RUNBOOK.test(text) ? text : null;
}
