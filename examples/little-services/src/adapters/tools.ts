// Tools over the little services: those an agent guards, and those a worker takes back, reconciles and verifies with.
import type { Json } from '@recourse/kernel';
import { happened, notHappened } from '@recourse/sdk';
import type { ForwardTool, Tool } from '@recourse/sdk';
import { z } from 'zod';
import { serviceOf, wordOf } from '../services/world.js';
import type { Doc } from '../services/world.js';
import { FORWARD, INVERSE, READ } from './capabilities.js';
import type { Forward, Inverse, Read } from './capabilities.js';
import type { Services } from './client.js';

/** Keys of compensations begin so; every other key is a forward call's. */
const COMPENSATION_KEY = /^rev_/;
const docShape = z.record(z.string(), z.json());

/** The tool of a forward capability. Errors: TypeError for a capability that is not in the table. */
export function forwardTool(client: Services, capability: string): ForwardTool {
  const spec = FORWARD[capability];
  if (spec === undefined) throw new TypeError(`no adapter has ${capability}`);
  return {
    execute: (args, { idempotencyKey }) => call(client, spec, docShape.parse(args), idempotencyKey),
    ...(spec.overwrites === 'no'
      ? {}
      : {
          capturePriorValue: (args) => thingOf(client, serviceOf(spec.operation), docShape.parse(args)[spec.id]),
        }),
    externalTransactionRef: (result) => (spec.hasHandle ? idIn(result, spec.id) : null),
  };
}

/** What a worker of an adapter calls: inverses and reads by capability. */
export function workerTools(client: Services, adapter: string): Readonly<Record<string, Tool>> {
  const isOurs = ([capability]: readonly [string, unknown]): boolean => capability.startsWith(`${adapter}.`);
  return {
    ...Object.fromEntries(
      Object.entries(INVERSE)
        .filter(isOurs)
        .map(([capability, spec]) => [capability, inverseTool(client, spec)]),
    ),
    ...Object.fromEntries(
      Object.entries(READ)
        .filter(isOurs)
        .map(([capability, spec]) => [capability, readTool(client, spec)]),
    ),
  };
}

/** What a worker of an adapter lets go when a hold ends. */
export function heldTools(client: Services, adapter: string): Readonly<Record<string, ForwardTool>> {
  return Object.fromEntries(
    Object.keys(FORWARD)
      .filter((capability) => capability.startsWith(`${adapter}.`))
      .map((capability) => [capability, forwardTool(client, capability)]),
  );
}

async function call(
  client: Services,
  { operation, id, repeat, overwrites }: Forward,
  args: Doc,
  key: string,
): Promise<Json> {
  if (repeat.by === 'lookup') {
    const [there] = await client.things(serviceOf(operation), { [repeat.field]: textOf(args[repeat.field]) });
    if (there !== undefined) return there;
  }
  const ifMatch =
    overwrites === 'conditionally' ? wordOf((await thingOf(client, serviceOf(operation), args[id]))['version']) : null;
  return client.operate(operation, args, { key: repeat.by === 'key' ? key : null, ifMatch });
}

function inverseTool(client: Services, { operation, expects }: Inverse): Tool {
  return (args, { idempotencyKey }) => {
    const body = docShape.parse(args);
    return client.operate(operation, body, {
      key: idempotencyKey,
      ifMatch: expects === undefined ? null : wordOf(body[expects]),
    });
  };
}

/** Reads a thing; of a forward call nobody knows the end of it says whether it took effect. */
function readTool(client: Services, read: Read): Tool {
  return (args, { phase, idempotencyKey }) => {
    const asked = docShape.parse(args);
    return phase === 'reconcile' && !COMPENSATION_KEY.test(idempotencyKey)
      ? findOut(client, read, asked, idempotencyKey)
      : thingOf(client, read.service, asked[read.id]);
  };
}

async function findOut(client: Services, { service, id, finds }: Read, args: Doc, key: string): Promise<Json> {
  const spec = FORWARD[finds];
  if (spec === undefined) throw new TypeError(`no adapter has ${finds}`);
  const thing = await effectOf(client, service, id, spec, args, key);
  return thing === null ? notHappened() : happened(thing, spec.hasHandle ? idIn(thing, id) : null);
}

async function effectOf(
  client: Services,
  service: string,
  id: string,
  { operation, repeat }: Forward,
  args: Doc,
  key: string,
): Promise<Doc | null> {
  switch (repeat.by) {
    case 'key': {
      const made = await client.madeUnder(operation, key);
      return made === null ? null : thingOf(client, service, made);
    }
    case 'lookup':
      return (await client.things(service, { [repeat.field]: textOf(args[repeat.field]) }))[0] ?? null;
    case 'state': {
      const thing = await client.find(service, textOf(args[id]));
      return thing !== null && repeat.isDone(thing, args) ? thing : null;
    }
  }
}

async function thingOf(client: Services, service: string, id: Json | undefined): Promise<Doc> {
  const thing = await client.find(service, textOf(id));
  if (thing === null) throw new Error(`there is no ${service}/${textOf(id)}`);
  return thing;
}

function idIn(result: Json, field: string): string | null {
  const parsed = z.record(z.string(), z.json()).safeParse(result);
  const id = parsed.success ? parsed.data[field] : undefined;
  return typeof id === 'string' ? id : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
