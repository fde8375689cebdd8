// A witness as auditors reach it, and as it is asked (C2SP tlog-witness).
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isSignedBy, noteText, parseNote } from '@recourse/audit';
import type { NoteKey, NoteSignature, NoteSigner, SignedHead } from '@recourse/audit';
import { Failure } from '@recourse/kernel';
import { arriving } from '../http/arriving.js';
import { judgeRequest, requestText } from './witness.decisions.js';
import type { CosignRequest } from './witness.decisions.js';
import type { WitnessState } from './witness-state.js';
import type { Witness } from './cosigners.js';

const PATH = '/add-checkpoint';
/** The routes by which programs of ours are asked how they are. */
const HEALTH: readonly (string | undefined)[] = ['/health', '/health/live', '/health/startup', '/health/ready'];
const BODY_BYTES_MAX = 64 * 1_024;
/** A signature, or a size, takes some hundred octets: a witness is somebody else's, and may answer with whatever it likes. */
const ANSWER_BYTES_MAX = 16 * 1_024;
const SIZE_TYPE = 'text/x.tlog.size';
/** What the format has no place for, and other witnesses pass over: notes, in base64. */
const GIVEN_UP = 'recourse-given-up';

export interface WitnessServerOptions {
  readonly signer: NoteSigner;
  /** Auditors whose heads it signs. */
  readonly keys: readonly NoteKey[];
  readonly state: WitnessState;
  readonly now: () => number;
  /** How long a request may take to arrive, milliseconds. */
  readonly arriveWithinMs?: number;
}

/** Answers `POST /add-checkpoint`, and `GET /health` with the routes below it. */
export function witnessServer(options: WitnessServerOptions): Server {
  return createServer(arriving(options.arriveWithinMs), (request, response) => {
    void answer(request, response, options).catch(() => {
      response.writeHead(500).end();
    });
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: WitnessServerOptions,
): Promise<void> {
  if (request.method === 'GET' && HEALTH.includes(request.url)) {
    response.writeHead(200).end('ok\n');
    return;
  }
  if (request.method !== 'POST' || request.url !== PATH) {
    response.writeHead(404).end();
    return;
  }
  const text = await textIn(request, BODY_BYTES_MAX);
  const { keys, state, signer, now } = options;
  const asked = text === null ? null : { text, givenUp: givenUpIn(request) };
  const verdict =
    asked === null ? { status: 400 as const } : judgeRequest(asked, keys, (origin) => state.seenOf(origin));
  if (verdict.status === 409) {
    response.writeHead(409, { 'content-type': SIZE_TYPE }).end(`${verdict.size}\n`);
    return;
  }
  if (verdict.status !== 200) {
    response.writeHead(verdict.status).end();
    return;
  }
  // Before the head: who gave up what is known wherever the head is.
  if (verdict.givenUp !== null) state.keepGivenUp(verdict.origin, verdict.givenUp);
  state.keep(verdict.origin, verdict.head);
  const note = parseNote(verdict.head.note);
  const signature = signer.sign(note?.text ?? '', Math.floor(now() / 1_000));
  const [, lines = ''] = noteText({ text: '\n', signatures: [signature] }).split('\n\n');
  response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8' }).end(lines);
}

function givenUpIn({ headers }: IncomingMessage): string | null {
  const encoded = headers[GIVEN_UP];
  return typeof encoded === 'string' ? Buffer.from(encoded, 'base64').toString('utf8') : null;
}

/** Null for what is longer. */
async function textIn(body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export interface WitnessClientOptions {
  readonly url: string;
  readonly key: NoteKey;
  readonly fetch: typeof fetch;
  readonly timeoutMs: number;
}

/** A witness somewhere else. */
export function witnessClient({ url, key, fetch: ask, timeoutMs }: WitnessClientOptions): Witness {
  /** Sizes it signed last, by log. */
  const sizes = new Map<string, number>();
  const post = (request: CosignRequest, givenUp: string | null): Promise<Response> =>
    ask(`${url.replace(/\/+$/, '')}${PATH}`, {
      method: 'POST',
      // It says where it is once, in the configuration: elsewhere its word would have the auditor ask whom it names.
      redirect: 'manual',
      body: requestText(request),
      headers: givenUp === null ? {} : { [GIVEN_UP]: Buffer.from(givenUp).toString('base64') },
      signal: AbortSignal.timeout(timeoutMs),
    });
  return {
    key,
    cosign: async (head, { proofFrom, givenUp }) => {
      const log = head.note.slice(0, head.note.indexOf('\n'));
      let oldSize = sizes.get(log) ?? 0;
      for (let attempt = 0; attempt < 2; attempt += 1) {
        const proof = proofFrom(oldSize);
        if (proof === null) throw refused(key, `it has signed a head of ${oldSize}, this one has ${head.size}`);
        const response = await post({ oldSize, proof, note: head.note }, givenUp);
        if (response.status === 409) {
          oldSize = sizeIn(await answerIn(response, key));
          continue;
        }
        if (response.status === 422) throw refused(key, REFUSED);
        if (!response.ok) throw new Failure('WITNESS_UNAVAILABLE', `${key.name} answers ${response.status}`);
        sizes.set(log, head.size);
        return signatureIn(await answerIn(response, key), head, key);
      }
      throw new Failure('WITNESS_UNAVAILABLE', `${key.name} names another size each time it is asked`);
    },
  };
}

const REFUSED =
  'this head does not extend the one it signed, or begins a generation and nothing shows who gave up the one before';

function refused({ name }: NoteKey, why: string): Failure {
  return new Failure('WITNESS_REFUSED', `${name} does not sign: ${why}`);
}

/** Errors: Failure(WITNESS_UNAVAILABLE). */
async function answerIn({ body }: Response, { name }: NoteKey): Promise<string> {
  const text = body === null ? '' : await textIn(body, ANSWER_BYTES_MAX);
  if (text === null) throw new Failure('WITNESS_UNAVAILABLE', `${name} answers with more than anybody reads`);
  return text;
}

function sizeIn(text: string): number {
  const size = Number(text.trim());
  if (!Number.isSafeInteger(size) || size < 0) throw new Failure('WITNESS_UNAVAILABLE', 'a witness names no size');
  return size;
}

function signatureIn(lines: string, { note }: SignedHead, key: NoteKey): NoteSignature {
  const whole = parseNote(`${note}${lines}`);
  const signature = whole?.signatures.find(({ name, id }) => name === key.name && id.equals(key.id));
  if (whole === null || signature === undefined || !isSignedBy(whole, key))
    throw new Failure('WITNESS_UNAVAILABLE', `${key.name} answers without its signature`);
  return signature;
}
