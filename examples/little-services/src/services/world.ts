// What the little services hold. Pure: every operation says what changes, and the world keeps every effect in its order.
//
// Invariants
//   W1. An effect is a change that took place; a request that changed nothing is none.
//   W2. How a service deduplicates is its own: by key, by a name of its caller's, by the state it finds, by version, or not at all.
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';

export type Doc = Readonly<Record<string, Json>>;

/** What somebody was told. */
export interface Notice {
  readonly seq: number;
  readonly to: string;
  readonly text: string;
}

export interface Effect {
  /** Place among the effects of all services, from 1. */
  readonly seq: number;
  /** When, in epoch milliseconds. */
  readonly at: number;
  readonly operation: string;
  /** Id of the thing within its service. */
  readonly thing: string;
  /** Idempotency key it came under; null where the service takes none or none was sent. */
  readonly key: string | null;
  /** SHA-256 of the request, hex. */
  readonly request: string;
  /** How often it was asked for. */
  readonly requests: number;
}

export interface World {
  /** By `<service>/<id>`. */
  readonly things: Readonly<Record<string, Doc>>;
  readonly effects: readonly Effect[];
  readonly notices: readonly Notice[];
}

export const EMPTY_WORLD: World = { things: {}, effects: [], notices: [] };

export interface Request {
  readonly operation: string;
  readonly body: Doc;
  /** Idempotency-Key header. */
  readonly key: string | null;
  /** If-Match header: the version the caller saw. */
  readonly ifMatch: string | null;
  /** Epoch milliseconds. */
  readonly now: number;
}

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

/** What an operation makes of a request: a thing as it will be, or why not. */
export type Change =
  | {
      readonly kind: 'set';
      readonly thing: string;
      readonly doc: Doc;
      readonly tells?: readonly { readonly to: string; readonly text: string }[];
    }
  /** It is so already. */
  | { readonly kind: 'same'; readonly thing: string }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export interface Operation {
  /** Whether the service remembers what it did under a key. */
  readonly isKeyed: boolean;
  readonly change: (world: World, request: Request) => Change;
}

export interface Answered {
  readonly world: World;
  readonly status: number;
  readonly body: Doc;
}

/** Asks an operation. Errors: none; a refusal is an answer. */
export function perform(world: World, operation: Operation, request: Request): Answered {
  const digest = sha256Hex(canonicalJson(request.body));
  const before =
    operation.isKeyed && request.key !== null
      ? world.effects.find((effect) => effect.operation === request.operation && effect.key === request.key)
      : undefined;
  if (before !== undefined) {
    if (before.request !== digest)
      return refused(world, { status: 409, code: 'KEY_REUSED', message: 'the key was used for something else' });
    const effects = world.effects.map((effect) =>
      effect === before ? { ...effect, requests: effect.requests + 1 } : effect,
    );
    return {
      world: { ...world, effects },
      status: 200,
      body: thingIn(world, serviceOf(request.operation), before.thing) ?? {},
    };
  }
  const change = operation.change(world, request);
  switch (change.kind) {
    case 'refused':
      return refused(world, change.refusal);
    case 'same':
      return { world, status: 200, body: thingIn(world, serviceOf(request.operation), change.thing) ?? {} };
    case 'set':
      return done(world, request, change, operation.isKeyed ? request.key : null, digest);
  }
}

function done(
  world: World,
  { operation, now }: Request,
  { thing, doc, tells = [] }: Extract<Change, { kind: 'set' }>,
  key: string | null,
  request: string,
): Answered {
  const seq = world.effects.length + 1;
  return {
    world: {
      things: { ...world.things, [`${serviceOf(operation)}/${thing}`]: doc },
      effects: [...world.effects, { seq, at: now, operation, thing, key, request, requests: 1 }],
      notices: [...world.notices, ...tells.map((tell) => ({ seq, ...tell }))],
    },
    status: 200,
    body: doc,
  };
}

function refused(world: World, { status, code, message }: Refusal): Answered {
  return { world, status, body: { code, message } };
}

/** A thing of a service, as it is. */
export function thingIn(world: World, service: string, id: string): Doc | undefined {
  return world.things[`${service}/${id}`];
}

/** Puts a thing there as it was before anybody acted; that is no effect. */
export function seed(world: World, service: string, id: string, doc: Doc): World {
  return { ...world, things: { ...world.things, [`${service}/${id}`]: doc } };
}

/** A field in words. */
export function wordOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

export function serviceOf(operation: string): string {
  return operation.slice(0, operation.indexOf('.'));
}
