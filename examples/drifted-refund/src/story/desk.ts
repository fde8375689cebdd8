// The desk the story is told from: asks each side over HTTP, waits for what must come, and keeps the list of checks.
import type { Clock } from '@recourse/sdk';
import type { Ask, HttpReply } from '../common/http.js';

/** Base addresses, without a slash at their ends. */
export interface StoryUrls {
  readonly issuer: string;
  /** Contract registry. */
  readonly registry: string;
  readonly ledger: string;
  readonly orchestrator: string;
  readonly budget: string;
  readonly provider: string;
  readonly warehouse: string;
  readonly agent: string;
  readonly loyalty: string;
}

export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** What was fetched, as it was fetched. */
  readonly fetched: unknown;
}

/** How the story reaches the world; each may be replaced by a spec. */
export interface Fetchers extends Pick<Clock, 'now' | 'sleep'> {
  readonly ask: Ask;
}

export interface Person {
  readonly subject: string;
  readonly roles: readonly string[];
}

export type Facts = Readonly<Record<string, unknown>>;

const POLL_MS = 150;
/** Tokens are asked for anew after this; the issuer's live longer. */
const TOKEN_KEPT_MS = 60_000;

export class Desk<Side extends string = keyof StoryUrls> {
  readonly checks: Check[] = [];
  private readonly tokens = new Map<string, { readonly token: string; readonly at: number }>();

  constructor(
    readonly urls: Readonly<Record<Side | 'issuer', string>>,
    readonly tenant: string,
    private readonly fetchers: Fetchers,
    readonly say: (line: string) => void,
  ) {}

  /** What a side says. `person` is asked for a token where the side is one of Recourse's. */
  async get(side: Side, path: string, person?: Person): Promise<HttpReply> {
    return this.fetchers.ask(`${this.urls[side]}${path}`, { headers: await this.headers(person) });
  }

  async post(
    side: Side,
    path: string,
    body: object,
    more: { readonly person?: Person; readonly key?: string } = {},
  ): Promise<HttpReply> {
    const key: Readonly<Record<string, string>> = more.key === undefined ? {} : { 'idempotency-key': more.key };
    return this.fetchers.ask(`${this.urls[side]}${path}`, {
      method: 'POST',
      body,
      headers: { ...(await this.headers(more.person)), ...key },
      timeoutMs: 20_000,
    });
  }

  /**
   * Asks until an answer has what is looked for.
   *
   * Units:  milliseconds.
   * Shape:  null when it did not come in time; errors of single requests are forgiven meanwhile.
   */
  async until<T>(withinMs: number, look: () => Promise<T | null>): Promise<T | null> {
    const deadline = this.fetchers.now() + withinMs;
    for (;;) {
      const found = await look().catch(() => null);
      if (found !== null) return found;
      if (this.fetchers.now() > deadline) return null;
      await this.fetchers.sleep(POLL_MS);
    }
  }

  check(name: string, ok: boolean, fetched: unknown): boolean {
    this.checks.push({ name, ok, fetched });
    this.say(`   ${ok ? 'held  ' : 'BROKEN'}  ${name}${ok ? '' : `: ${JSON.stringify(fetched)}`}`);
    return ok;
  }

  now(): number {
    return this.fetchers.now();
  }

  private async headers(person: Person | undefined): Promise<Readonly<Record<string, string>>> {
    return person === undefined ? {} : { authorization: `Bearer ${await this.tokenOf(person)}` };
  }

  private async tokenOf(person: Person): Promise<string> {
    const held = this.tokens.get(person.subject);
    if (held !== undefined && this.now() - held.at < TOKEN_KEPT_MS) return held.token;
    const { body } = await this.fetchers.ask(`${this.urls.issuer}/token`, {
      method: 'POST',
      body: { ...person, tenant: this.tenant },
    });
    const token = textOf(body['access_token']);
    this.tokens.set(person.subject, { token, at: this.now() });
    return token;
  }
}

/** The list an answer holds, under whatever name. */
export function listOf(body: Facts): readonly Facts[] {
  const found = Object.values(body).find((value) => Array.isArray(value));
  // Only objects are rows.
  return ((found ?? []) as readonly unknown[]).filter(
    (item): item is Facts => typeof item === 'object' && item !== null,
  );
}

/** A member that is an object; empty when it is none. */
export function factsOf(body: Facts, ...path: readonly string[]): Facts {
  return path.reduce<Facts>((at, name) => {
    const member = at[name];
    return typeof member === 'object' && member !== null && !Array.isArray(member) ? (member as Facts) : {};
  }, body);
}

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
