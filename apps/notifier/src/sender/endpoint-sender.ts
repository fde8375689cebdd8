// Sends what is due to one endpoint. Each endpoint has a sender of its own: one that is slow or broken stops only itself (P13).
//
// Boundary: claims, signs, asks the sender to send, and keeps what came of it; what follows from an answer is decided in rules/.
//
// Invariants
//   E1. At least once: an attempt is begun in the store before it is sent, and one that brought nothing in time is begun again.
//   E2. Nothing is sent to an endpoint that does not hear of it now, whatever it heard of when that was queued.
//   E3. Every attempt of a delivery carries the same webhook id and body; timestamp and signature are those of the attempt.
import { judgeAttempt, judgeHearing } from '../rules/delivery/attempt.decisions.js';
import type { Attempted, AttemptVerdict, DeliveryPolicy } from '../rules/delivery/attempt.decisions.js';
import type { Delivery } from '../rules/delivery/delivery.messages.js';
import { bodyOf } from '../rules/webhook/body.decisions.js';
import type { LinkBases } from '../rules/webhook/body.decisions.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import { signedHeaders } from '../rules/webhook/signature.decisions.js';
import type { SignedHeaders } from '../rules/webhook/signature.decisions.js';
import type { NotifierStore } from '../store/notifier-store.port.js';

/** One request to a receiver. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: SignedHeaders;
  readonly body: string;
  readonly timeoutMs: number;
}

/** Sends one request and says what came of it; never throws, follows no redirect. */
export type SendWebhook = (request: WebhookRequest) => Promise<Attempted>;

export interface SenderOptions {
  readonly endpoint: Endpoint;
  readonly store: Pick<NotifierStore, 'claim' | 'settle'>;
  readonly send: SendWebhook;
  readonly policy: DeliveryPolicy;
  readonly bases: LinkBases;
  /** Longest a request may take, milliseconds. */
  readonly timeoutMs: number;
  /** Epoch milliseconds. */
  readonly now: () => number;
  readonly onAttempt?: (endpoint: string, verdict: AttemptVerdict) => void;
}

/** Requests to one endpoint at a time. */
const AT_ONCE = 4;
/** What an attempt may take beside the request itself, milliseconds. */
const GRACE_MS = 2_000;

export class EndpointSender {
  constructor(private readonly options: SenderOptions) {}

  /** Sends what is due, at most a handful; answers how many attempts there were. Errors: those of the store. */
  async sendDue(): Promise<number> {
    const { endpoint, store, now, timeoutMs } = this.options;
    const at = now();
    const claimed = await store.claim({
      endpoint: endpoint.name,
      now: at,
      until: at + timeoutMs + GRACE_MS,
      countMax: AT_ONCE,
    });
    await Promise.all(claimed.map((delivery) => this.#attempt(delivery)));
    return claimed.length;
  }

  async #attempt(delivery: Delivery): Promise<void> {
    const { endpoint, store, send, policy, bases, timeoutMs, now, onAttempt } = this.options;
    const unheard = judgeHearing(endpoint, delivery, now());
    if (unheard !== null) {
      await store.settle(delivery, unheard, now());
      return;
    }
    const body = bodyOf(endpoint.shape, delivery.notice, bases);
    const attempted = await send({
      url: endpoint.url,
      headers: signedHeaders(delivery.id, body, endpoint.keys, now()),
      body,
      timeoutMs,
    });
    const verdict = judgeAttempt(delivery, attempted, policy, now());
    await store.settle(delivery, verdict, now());
    onAttempt?.(endpoint.name, verdict);
  }
}
