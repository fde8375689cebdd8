// What the little services can be asked, and how each tells a repeat from something new. Pure.
import type { Change, Doc, Operation, Request, World } from './world.js';
import { serviceOf, thingIn, wordOf } from './world.js';

type Alter = (doc: Doc, request: Request) => Doc | null;

/** Makes a thing under an id of the service's own; repeats are told by the key alone. */
function makes(
  prefix: string,
  idField: string,
  as: (request: Request) => Doc,
  tells?: (doc: Doc) => string,
): Operation {
  return {
    isKeyed: true,
    change: (world, request) => {
      const thing = nextId(world, request.operation, prefix);
      const doc = { ...request.body, ...as(request), [idField]: thing };
      return {
        kind: 'set',
        thing,
        doc,
        tells: tells === undefined ? [] : [{ to: tells(doc), text: `${request.operation} ${thing}` }],
      };
    },
  };
}

/** Changes a thing that is there. `alter` answers null where the thing forbids it; a thing that stays as it is makes no effect. */
function alters(idField: string, alter: Alter, tells: (doc: Doc) => readonly string[] = () => []): Operation {
  return {
    isKeyed: false,
    change: (world, request) => {
      const thing = textOf(request.body[idField]);
      const doc = thingIn(world, serviceOf(request.operation), thing);
      if (doc === undefined) return refusedFor(404, 'NOT_FOUND', `there is no ${thing}`);
      if (request.ifMatch !== null && request.ifMatch !== wordOf(doc['version']))
        return refusedFor(412, 'VERSION_MOVED', `it is at version ${wordOf(doc['version'])}`);
      const next = alter(doc, request);
      if (next === null)
        return refusedFor(409, 'STATE_FORBIDS', `${thing} is ${wordOf(doc['status'] ?? doc['state'])}`);
      return isSame(doc, next)
        ? { kind: 'same', thing }
        : {
            kind: 'set',
            thing,
            doc: next,
            tells: tells(next).map((to) => ({ to, text: `${request.operation} ${thing}` })),
          };
    },
  };
}

/** A write that counts versions. */
const writes = (idField: string, values: (request: Request, doc: Doc) => Doc): Operation =>
  alters(idField, (doc, request) => {
    const next = { ...doc, ...values(request, doc) };
    return isSame(doc, next) ? doc : { ...next, version: Number(doc['version']) + 1 };
  });

const from =
  (field: string, before: string, after: string) =>
  (doc: Doc): Doc | null =>
    doc[field] === after ? doc : doc[field] === before ? { ...doc, [field]: after } : null;
const keyed = (operation: Operation): Operation => ({ ...operation, isKeyed: true });

/** Everything that has an effect, by `<service>.<verb>`. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'mail.send': makes(
    'msg',
    'message',
    () => ({ status: 'sent' }),
    ({ to }) => textOf(to),
  ),
  'mail.cancel': alters('message', from('status', 'held', 'cancelled')),
  'channels.post': makes(
    'post',
    'post_id',
    () => ({}),
    ({ channel }) => textOf(channel),
  ),
  'tickets.open': makes(
    'tick',
    'ticket',
    () => ({ status: 'open', comment_id: 'c0', version: 1 }),
    ({ subject }) => textOf(subject),
  ),
  'tickets.close': alters('ticket', from('status', 'open', 'closed'), ({ subject }) => [textOf(subject)]),
  'payments.charge': makes('ch', 'charge_id', () => ({ status: 'captured' })),
  'payments.refund': keyed(
    alters('charge_id', (doc) => (doc['status'] === 'captured' ? { ...doc, status: 'refunded' } : null)),
  ),
  'travel.book': makes('trip', 'booking', () => ({ status: 'booked', fee_minor: 0 })),
  'travel.cancel': keyed(
    alters('booking', (doc) => (doc['status'] === 'booked' ? { ...doc, status: 'cancelled', fee_minor: 5_000 } : null)),
  ),
  'shipping.dispatch': makes('parcel', 'parcel', () => ({ status: 'in_transit' })),
  'shipping.recall': alters('parcel', from('status', 'in_transit', 'returning')),
  'calendar.send': { isKeyed: false, change: sendInvite },
  'calendar.cancel': alters('invite', from('status', 'sent', 'cancelled'), ({ attendees }) => listOf(attendees)),
  'crm.update': writes('contact', ({ body }) => ({ phone: textOf(body['phone']) })),
  'documents.archive': writes('document', () => ({ state: 'archived' })),
  'documents.restore': writes('document', () => ({ state: 'present' })),
  'labels.add': writes('issue', ({ body }, doc) => ({
    labels: [...new Set([...listOf(doc['labels']), textOf(body['label'])])],
  })),
  'labels.remove': writes('issue', ({ body }, doc) => ({
    labels: listOf(doc['labels']).filter((label) => label !== body['label']),
  })),
  'labels.set': writes('issue', ({ body }) => ({ labels: listOf(body['labels']) })),
  'config.update': writes('resource', ({ body }) => ({ value: textOf(body['value']) })),
  'inventory.reserve': {
    isKeyed: false,
    change: (world, request) => makes('rsv', 'reservation', () => ({ status: 'reserved' })).change(world, request),
  },
  'inventory.release': alters('reservation', from('status', 'reserved', 'released')),
};

/** The sender names the invite: the same one again invites nobody twice. */
function sendInvite(world: World, { body, operation }: Request): Change {
  const thing = textOf(body['invite']);
  if (thingIn(world, serviceOf(operation), thing) !== undefined) return { kind: 'same', thing };
  const attendees = listOf(body['attendees']);
  return {
    kind: 'set',
    thing,
    doc: { ...body, status: 'sent', told: attendees.length },
    tells: attendees.map((to) => ({ to, text: `${operation} ${thing}` })),
  };
}

function nextId(world: World, operation: string, prefix: string): string {
  return `${prefix}_${String(world.effects.filter((effect) => effect.operation === operation).length + 1).padStart(4, '0')}`;
}

function refusedFor(status: number, code: string, message: string): Change {
  return { kind: 'refused', refusal: { status, code, message } };
}
function isSame(one: Doc, other: Doc): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}
