// How often somebody may ask: per address (of IPv6 per /64), per principal, and with tokens that are none.
//
// Boundary: this process alone counts; what several instances let through adds up.
//
// Invariants
//   R1. Whoever asks too often is told when to ask again, and nothing of the request is read.
//   R2. An address that sends tokens that are none is slowed before they are verified; a token that was good before goes on.
//   R3. What is kept is bounded: the least lately used is forgotten, which only lets more through.
import { createHash } from 'node:crypto';
import { networkOf } from './network.decisions.js';
import { EdgeRefusal } from './problem.js';
import { filled, waitFor } from './rate.decisions.js';
import type { Bucket, Rate } from './rate.decisions.js';

/** How much goes through. */
export interface LimitRates {
  readonly address: Rate;
  readonly principal: Rate;
  readonly badTokens: Rate;
}

/** Far above what a program asks for on purpose; an address may be a proxy with many behind it. */
export const LIMIT_RATES: LimitRates = {
  address: { burst: 10_000, perSecond: 5_000 },
  principal: { burst: 2_000, perSecond: 1_000 },
  badTokens: { burst: 100, perSecond: 5 },
};

/** Most addresses, principals or tokens that are remembered. */
const KEPT_MAX = 10_000;

export class Limits {
  readonly #addresses = new Map<string, Bucket>();
  readonly #principals = new Map<string, Bucket>();
  readonly #badTokens = new Map<string, Bucket>();
  /** Digests of tokens that were good when they were last shown. */
  readonly #good = new Map<string, true>();

  constructor(
    private readonly rates: LimitRates = LIMIT_RATES,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Before a token is looked at. Errors: EdgeRefusal(TOO_MANY_REQUESTS). */
  beforeToken(address: string, authorization: string | undefined): void {
    const network = networkOf(address);
    this.take(this.#addresses, network, this.rates.address);
    if (authorization !== undefined && this.#good.has(digestOf(authorization))) return;
    const bucket = filled(this.#badTokens.get(network), this.rates.badTokens, this.now());
    refuseUntil(waitFor(bucket, this.rates.badTokens), 'too many tokens that are none came from this address');
  }

  /** A token was none. */
  tokenRefused(address: string, authorization: string | undefined): void {
    if (authorization !== undefined) this.#good.delete(digestOf(authorization));
    const network = networkOf(address);
    const { left, at } = filled(this.#badTokens.get(network), this.rates.badTokens, this.now());
    keep(this.#badTokens, network, { left: Math.max(0, left - 1), at });
  }

  /** A token was good; `holder`: its tenant and subject, since two tenants may have a program of one name. Errors: EdgeRefusal(TOO_MANY_REQUESTS) where its holder has asked too often. */
  tokenTaken(holder: string, authorization: string | undefined): void {
    if (authorization !== undefined) keep(this.#good, digestOf(authorization), true);
    this.take(this.#principals, holder, this.rates.principal);
  }

  private take(buckets: Map<string, Bucket>, key: string, rate: Rate): void {
    const { left, at } = filled(buckets.get(key), rate, this.now());
    const waitMs = waitFor({ left, at }, rate);
    keep(buckets, key, { left: waitMs > 0 ? left : left - 1, at });
    refuseUntil(waitMs, 'this many requests at once are too many');
  }
}

function refuseUntil(waitMs: number, why: string): void {
  if (waitMs <= 0) return;
  throw new EdgeRefusal('TOO_MANY_REQUESTS', `${why}; ask again later`, [], {
    retryAfterS: Math.max(1, Math.ceil(waitMs / 1_000)),
  });
}

/** The last used stands last. */
function keep<Value>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= KEPT_MAX) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

function digestOf(authorization: string): string {
  return createHash('sha256').update(authorization).digest('base64');
}
