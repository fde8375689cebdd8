// The detector as a sidecar: a small HTTP server beside the agent, on its host and not in its process.
//
// Shape: POST /observations {tenant, run_id, kind, source, facts, seen_at, about?} → 200 {triggers: [event id], refusals}; 400
// OBSERVATION_INVALID with every problem; 404, 405; 403, 415 and 421 for what a page in a browser of this host could send (its origin, a
// body that is not application/json, a name that was given our address); 413 OBSERVATION_TOO_LARGE; 422 where rules were concerned and none could make a
// trigger; 503 TELL_FAILED: show it again.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isTooDeep, JSON_DEPTH_MAX } from '@recourse/kernel';
import { z } from 'zod';
import type { Detector } from './detector.js';
import { SIGHTING_KINDS } from './detector.messages.js';
import type { Sighting } from './detector.messages.js';

/** Largest observation, bytes: what a record on a wire holds. */
export const OBSERVATION_BYTES_MAX = 256 * 1_024;
/** A page may send other kinds of body to whom it likes, without asking first. */
const JSON_TYPE = /^application\/json\s*(;|$)/i;
const LOCAL_NAMES = ['localhost', '127.0.0.1', '::1'];
/** Bytes that are no UTF-8 are no text: read as replacement characters, one run would be taken for another. */
const UTF8 = new TextDecoder('utf-8', { fatal: true });
/** Last instant a date can name, epoch milliseconds. */
const INSTANT_MAX = 8.64e15;

const id = (): z.ZodString => z.string().min(1).max(512);
const observation = z.strictObject({
  tenant: id(),
  run_id: id().nullable(),
  kind: z.enum(SIGHTING_KINDS),
  source: id(),
  facts: z.json(),
  seen_at: z.int().min(0).max(INSTANT_MAX),
  about: z
    .union([z.strictObject({ ref: id(), run_id: id().optional() }), z.strictObject({ run_id: id(), commit_id: id() })])
    .optional(),
});

/** A sidecar under way. */
export interface DetectorServer {
  /** Where it listens, without a slash at its end. */
  readonly url: string;
  close(): Promise<void>;
}

/** What a sidecar needs. */
export interface DetectorServerOptions {
  readonly detector: Detector;
  /** 0, the default, takes one that is free. */
  readonly port?: number;
  /** This host alone unless told: who can reach it can make triggers. */
  readonly host?: string;
  /** Names it is asked for under, beside its address and localhost: no page can have its own name stand for it. */
  readonly names?: readonly string[];
}

/** A sighting as the sidecar takes it. */
export function observationBody({ tenant, runId, kind, source, facts, seenAt, about }: Sighting): object {
  const told =
    about === undefined
      ? {}
      : {
          about:
            'ref' in about
              ? { ref: about.ref, ...(about.runId === undefined ? {} : { run_id: about.runId }) }
              : { run_id: about.runId, commit_id: about.commitId },
        };
  return { tenant, run_id: runId, kind, source, facts, seen_at: seenAt, ...told };
}

/** Serves a detector. Errors: what listening fails with. */
export async function serveDetector({
  detector,
  port = 0,
  host = '127.0.0.1',
  names = [],
}: DetectorServerOptions): Promise<DetectorServer> {
  const known = new Set([...LOCAL_NAMES, ...[host, ...names].map((name) => name.toLowerCase())]);
  const server = createServer((request, response) => {
    const refused = pageProblem(request, known);
    void answer(refused === null ? replyTo(detector, request) : Promise.resolve(refused), response);
  });
  const at = await listening(server, port, host);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${String(at)}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function listening(server: Server, port: number, host: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const address = server.address();
  return address !== null && typeof address === 'object' ? address.port : port;
}

interface Reply {
  readonly status: number;
  readonly body: object;
}

async function answer(reply: Promise<Reply>, response: ServerResponse): Promise<void> {
  const { status, body } = await reply.catch((): Reply => ({
    status: 503,
    body: { code: 'TELL_FAILED', message: 'not every trigger was taken; show the observation again' },
  }));
  response
    .writeHead(status, { 'content-type': 'application/json', ...(status === 413 ? { connection: 'close' } : {}) })
    .end(JSON.stringify(body));
}

/** Answers to what a page could have sent, whose user looks at it on this host; null for what a program sends. */
function pageProblem({ headers, socket }: IncomingMessage, known: ReadonlySet<string>): Reply | null {
  const asked = hostIn(headers.host);
  if (asked === null || !(known.has(asked) || asked === addressOf(socket.localAddress)))
    return refusal(421, 'HOST_UNKNOWN', 'it is not asked for under this name');
  const site = headers['sec-fetch-site'];
  if (headers.origin !== undefined || (site !== undefined && site !== 'same-origin' && site !== 'none'))
    return refusal(403, 'ORIGIN_REFUSED', 'observations are shown by programs, not by pages');
  return null;
}

/** Name or address in a Host header, without port and brackets; null where it holds none. */
function hostIn(header: string | undefined): string | null {
  const url = `http://${header ?? ''}`;
  return header !== undefined && URL.canParse(url) ? addressOf(new URL(url).hostname) : null;
}

function addressOf(address = ''): string {
  return address.replace(/^::ffff:/, '').replace(/^\[(.*)\]$/, '$1');
}

function refusal(status: number, code: string, message: string): Reply {
  return { status, body: { code, message } };
}

async function replyTo(detector: Detector, request: IncomingMessage): Promise<Reply> {
  if (request.url !== '/observations') return refusal(404, 'NOT_FOUND', 'there is POST /observations');
  if (request.method !== 'POST') return refusal(405, 'METHOD_NOT_ALLOWED', 'observations are posted');
  if (!JSON_TYPE.test(request.headers['content-type'] ?? ''))
    return refusal(415, 'CONTENT_TYPE_UNSUPPORTED', 'an observation is application/json');
  const bytes = await bytesOf(request);
  if (bytes === null)
    return refusal(413, 'OBSERVATION_TOO_LARGE', `an observation has at most ${String(OBSERVATION_BYTES_MAX)} bytes`);
  const read = sightingOf(bytes);
  if ('problems' in read) return refusal(400, 'OBSERVATION_INVALID', read.problems.join('; '));
  const { triggers, refusals } = await detector.see(read);
  const [first] = refusals;
  if (triggers.length === 0 && first !== undefined)
    return { status: 422, body: { code: first.code, message: first.reason, refusals } };
  return { status: 200, body: { triggers: triggers.map(({ eventId }) => eventId), refusals } };
}

/** The body of a request; null when it is larger than one may be. */
async function bytesOf(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  // A request without an encoding gives its body as buffers.
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > OBSERVATION_BYTES_MAX) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function sightingOf(bytes: Buffer): Sighting | { readonly problems: readonly string[] } {
  const given = jsonOf(bytes);
  if (hasDeepFacts(given))
    return { problems: [`/facts: what is in it nests deeper than the ${String(JSON_DEPTH_MAX)} levels that are read`] };
  const parsed = observation.safeParse(given);
  if (!parsed.success)
    return { problems: parsed.error.issues.map(({ path, message }) => `/${path.map(String).join('/')}: ${message}`) };
  const { tenant, run_id: runId, kind, source, facts, seen_at: seenAt, about } = parsed.data;
  const sighting = { tenant, runId, kind, source, facts, seenAt };
  if (about === undefined) return sighting;
  if ('commit_id' in about) return { ...sighting, about: { runId: about.run_id, commitId: about.commit_id } };
  return {
    ...sighting,
    about: about.run_id === undefined ? { ref: about.ref } : { ref: about.ref, runId: about.run_id },
  };
}

/** What is looked at no further: whoever walked over it would run out of stack, and asking for it again would bring it again. */
function hasDeepFacts(given: unknown): boolean {
  const facts = typeof given === 'object' && given !== null && 'facts' in given ? given.facts : null;
  return typeof facts === 'object' && facts !== null && Object.values(facts).some(isTooDeep);
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return JSON.parse(UTF8.decode(bytes));
  } catch {
    return undefined;
  }
}
