// Stands between the worker and the payment provider, and holds one call of a recovery where it is told to.
//
// Boundary: forwards HTTP; knows of a call only which refund it is about and which of the recovery's calls it is. What the
// provider does with a call is the provider's; a call that is held does not know that its caller has died meanwhile.
//
// Invariants
//   G1. Each refund is held at most once, at its first call of the kind named.
//   G2. What was held goes on when it is let go, whether its caller is still there or not: a request on its way arrives.
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

/** The look before the reversal is sent to a worker, the look before it is made, the reversal, the look after it. */
export type CallKind = 'look' | 'stale check' | 'act' | 'verify';

export interface HoldPlace {
  readonly call: CallKind;
  /** Before the provider sees the call, or after it has answered and before its caller hears. */
  readonly side: 'before' | 'after';
}

/** What is known of one refund's calls. */
interface Held {
  readonly place: HoldPlace | null;
  /** When the first call of its leg came, epoch milliseconds; null before. */
  firstSeenAt: number | null;
  hasActed: boolean;
  isUsed: boolean;
  isHolding: boolean;
  readonly looked: PromiseWithResolvers<undefined>;
  readonly reached: PromiseWithResolvers<undefined>;
  readonly goOn: PromiseWithResolvers<undefined>;
}

/** Longest the provider may take; its worker has given up before. */
const FORWARD_MS = 10_000;

export class ProviderGate {
  private readonly held = new Map<string, Held>();
  private readonly server: Server;
  private port = 0;
  private provider = '';

  private constructor() {
    this.server = createServer((request, response) => {
      this.take(request, response).catch(() => {
        response.destroy();
      });
    });
  }

  static async open(): Promise<ProviderGate> {
    const gate = new ProviderGate();
    await new Promise<void>((resolve, reject) => {
      gate.server.once('error', reject).listen(0, '127.0.0.1', resolve);
    });
    const bound = gate.server.address();
    if (bound === null || typeof bound === 'string') throw new Error('the gate has no port');
    gate.port = bound.port;
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  /** Where the provider is. */
  leadTo(provider: string): void {
    this.provider = provider;
  }

  /** Follows the calls about a refund, and holds one of them where a place is given. */
  watch(refundId: string, place: HoldPlace | null): void {
    this.held.set(refundId, {
      place,
      firstSeenAt: null,
      hasActed: false,
      isUsed: false,
      isHolding: false,
      looked: Promise.withResolvers(),
      reached: Promise.withResolvers(),
      goOn: Promise.withResolvers(),
    });
  }

  /** Resolves when a call is held. */
  async reached(refundId: string): Promise<void> {
    await this.held.get(refundId)?.reached.promise;
  }

  /** Resolves when a look of no leg was answered. */
  async looked(refundId: string): Promise<void> {
    await this.held.get(refundId)?.looked.promise;
  }

  /** Is a call held whose caller still waits? */
  isHolding(refundId: string): boolean {
    return this.held.get(refundId)?.isHolding === true;
  }

  firstSeenAt(refundId: string): number | null {
    return this.held.get(refundId)?.firstSeenAt ?? null;
  }

  letGo(refundId: string): void {
    this.held.get(refundId)?.goOn.resolve(undefined);
  }

  letAllGo(): void {
    for (const refundId of this.held.keys()) this.letGo(refundId);
  }

  async close(): Promise<void> {
    this.letAllGo();
    this.server.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.server.close(() => {
        resolve();
      });
    });
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await textOf(request);
    const held = this.held.get(refundOf(request.url ?? ''));
    const call = held === undefined ? null : callOf(request, held);
    if (held !== undefined) {
      if (call !== 'look') held.firstSeenAt ??= Date.now();
      if (call === 'act') held.hasActed = true;
    }
    if (held !== undefined && isHeldAt(held, call, 'before')) await hold(held, response);
    const answer = await this.forward(request, body);
    if (held !== undefined && isHeldAt(held, call, 'after')) await hold(held, response);
    if (call === 'look') held?.looked.resolve(undefined);
    if (response.destroyed) return;
    response
      .writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'application/json' })
      .end(await answer.text());
  }

  private forward(request: IncomingMessage, body: string): Promise<Response> {
    const key = request.headers['idempotency-key'];
    const type = request.headers['content-type'];
    return fetch(`${this.provider}${request.url ?? '/'}`, {
      method: request.method ?? 'GET',
      signal: AbortSignal.timeout(FORWARD_MS),
      ...(body === '' ? {} : { body }),
      headers: {
        ...(typeof key === 'string' ? { 'idempotency-key': key } : {}),
        ...(type === undefined ? {} : { 'content-type': type }),
      },
    });
  }
}

function isHeldAt({ place, isUsed }: Held, call: CallKind | null, side: HoldPlace['side']): boolean {
  return !isUsed && place?.call === call && place.side === side;
}

/** Holds a call until it is let go; its caller may go away meanwhile. */
async function hold(held: Held, response: ServerResponse): Promise<void> {
  held.isUsed = true;
  held.isHolding = !response.destroyed;
  response.once('close', () => {
    held.isHolding = false;
  });
  held.reached.resolve(undefined);
  await held.goOn.promise;
  held.isHolding = false;
}

/** Which of a recovery's calls this is: the worker says what its looks are for, and one before the reversal was asked for is of no leg. */
function callOf({ method, headers }: IncomingMessage, { hasActed }: Held): CallKind {
  if (method === 'POST') return 'act';
  if (hasActed) return 'verify';
  return headers['x-purpose'] === 'stale_check' ? 'stale check' : 'look';
}

/** `/refunds/<id>` and `/refunds/<id>/reverse`. */
function refundOf(url: string): string {
  return decodeURIComponent(url.split('/')[2] ?? '');
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  // A request's chunks are buffers while no encoding is set.
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
