// The little services: mail, calendar, payments and their like, over plain HTTP, with their state in memory.
//
// POST /<service>.<verb>        an operation; Idempotency-Key and If-Match where the service knows them
// GET  /things/<service>/<id>   one thing; POST puts it there as it was before anybody acted
// GET  /state                   everything: things, effects in their order, who was told what
// GET  /effects?operation=&key= effects, to look a call up by its key
// POST /faults                  {operation, about, mode}
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readEnvironment } from '@recourse/example-drifted-refund';
import { z } from 'zod';
import { FAULT_MODES, takeFault } from './services/faults.js';
import type { Fault } from './services/faults.js';
import { OPERATIONS } from './services/operations.js';
import { EMPTY_WORLD, perform, seed, thingIn } from './services/world.js';
import type { Doc, World } from './services/world.js';

const docShape = z.record(z.string(), z.json());
const faultShape = z.strictObject({
  operation: z.string().refine((name) => Object.hasOwn(OPERATIONS, name)),
  about: z.string().min(1),
  mode: z.enum(FAULT_MODES),
});
const BODY_BYTES_MAX = 65_536;

const { PORT } = readEnvironment('PORT');
let world: World = EMPTY_WORLD;
let faults: readonly Fault[] = [];

const server = createServer((request, response) => {
  void answer(request)
    .catch((error: unknown): Reply => ({
      status: 422,
      body: { code: 'INPUT_INVALID', message: error instanceof Error ? error.message : String(error) },
    }))
    .then((reply) => {
      if (reply !== null) send(response, reply);
    });
});
server.listen(PORT, '127.0.0.1', () => {
  const address = server.address();
  process.stdout.write(`${JSON.stringify({ listening: typeof address === 'object' ? address?.port : null })}\n`);
});
for (const signal of ['SIGTERM', 'SIGINT'] as const)
  process.once(signal, () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });

interface Reply {
  readonly status: number;
  readonly body: object;
}

/** Null: nobody answers. */
async function answer(request: IncomingMessage): Promise<Reply | null> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://services');
  const [, first = '', service = '', id = ''] = pathname.split('/').map(decodeURIComponent);
  if (request.method === 'GET') {
    switch (first) {
      case 'health':
        return { status: 200, body: { status: 'ready' } };
      case 'state':
        return { status: 200, body: world };
      case 'effects':
        return {
          status: 200,
          body: {
            effects: world.effects.filter(
              ({ operation, key }) => operation === searchParams.get('operation') && key === searchParams.get('key'),
            ),
          },
        };
      case 'things':
        return shown(service, id, searchParams);
      default:
        return unknown(pathname);
    }
  }
  const body = docShape.parse(JSON.parse(await bodyOf(request)));
  if (first === 'things') {
    world = seed(world, service, id, body);
    return { status: 200, body };
  }
  if (first === 'faults') {
    faults = [...faults, faultShape.parse(body)];
    return { status: 200, body: { faults } };
  }
  return operate(request, first, body);
}

function operate({ headers }: IncomingMessage, name: string, body: Doc): Reply | null {
  const operation = Object.hasOwn(OPERATIONS, name) ? OPERATIONS[name] : undefined;
  if (operation === undefined) return unknown(name);
  const fault = takeFault(faults, name, body);
  faults = fault.left;
  if (fault.mode === 'refuse')
    return { status: 422, body: { code: 'REFUSED', message: `${name} is refused, and nothing was done` } };
  if (fault.mode === 'lost') return null;
  const answered = perform(world, operation, {
    operation: name,
    body,
    key: one(headers['idempotency-key']),
    ifMatch: one(headers['if-match']),
    now: Date.now(),
  });
  world = answered.world;
  return fault.mode === 'silent' ? null : { status: answered.status, body: answered.body };
}

/** One thing by its id; without an id the things of a service of which the query is true. */
function shown(service: string, id: string, query: URLSearchParams): Reply {
  if (id === '') {
    const things = Object.entries(world.things)
      .filter(
        ([name, doc]) => name.startsWith(`${service}/`) && [...query].every(([field, value]) => doc[field] === value),
      )
      .map(([, doc]) => doc);
    return { status: 200, body: { things } };
  }
  const doc = thingIn(world, service, id);
  return doc === undefined ? unknown(`${service}/${id}`) : { status: 200, body: doc };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > BODY_BYTES_MAX) throw new Error('the body is too long');
  }
  return text;
}

function send(response: ServerResponse, { status, body }: Reply): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
function unknown(what: string): Reply {
  return { status: 404, body: { code: 'NOT_FOUND', message: `there is no ${what}` } };
}
function one(header: string | readonly string[] | undefined): string | null {
  return typeof header === 'string' && header !== '' ? header : null;
}
