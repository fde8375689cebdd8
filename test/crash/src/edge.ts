// Asks services and the example's processes over HTTP as people and programs do: again after a failure, another instance
// when one does not answer, the same idempotency key each time. Keeps what was acknowledged.
import type { StoryUrls } from '@recourse/example-drifted-refund';

export type Side = keyof StoryUrls;
export type Facts = Readonly<Record<string, unknown>>;

export interface Person {
  readonly subject: string;
  readonly roles: readonly string[];
  readonly tenant: string;
}
export interface Answer {
  readonly status: number;
  readonly body: Facts;
  readonly text: string;
}

export interface Command {
  readonly side: Side;
  readonly path: string;
  readonly body: object;
  readonly person: Person;
  readonly key: string;
}
/** A command that was answered 2xx, with the answer. */
export interface Acknowledged extends Command {
  readonly status: number;
  readonly text: string;
}

export const TENANT = 'demo';
export const INITIATOR: Person = { subject: 'asha', roles: ['approver'], tenant: TENANT };
export const OPERATOR: Person = { subject: 'mira', roles: ['approver', 'operator'], tenant: TENANT };
export const CONTRACT_EDITOR: Person = { subject: 'ravi', roles: ['contract_editor'], tenant: TENANT };
export const BUDGET_OWNER: Person = { subject: 'leela', roles: ['budget_owner'], tenant: TENANT };
export const AUDITOR: Person = { subject: 'nina', roles: ['auditor', 'administrator'], tenant: '*' };

/** Longest for an answer of one process; a service's edge waits 10 s itself. */
const ANSWER_MS = 15_000;
/** Longest for any answer at all; a broker that was killed is back before. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 120;

export class Edge {
  readonly acknowledged: Acknowledged[] = [];
  private readonly tokens = new Map<string, Promise<string>>();

  /** Addresses per side, all instances. */
  constructor(private readonly addresses: Readonly<Record<Side, readonly string[]>>) {}

  /** Asks until somebody answers below 500. Errors: when nobody does in time. */
  async get(side: Side, path: string, person?: Person): Promise<Answer> {
    return this.persistently(side, path, async (address) =>
      this.ask(`${address}${path}`, { headers: await this.authorization(person) }),
    );
  }

  async post(side: Side, path: string, body: object, key?: string): Promise<Answer> {
    const headers: Readonly<Record<string, string>> = key === undefined ? {} : { 'idempotency-key': key };
    return this.persistently(side, path, (address) =>
      this.ask(`${address}${path}`, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    );
  }

  /** Sends a command until it is answered below 500, and remembers it when the answer was 2xx. */
  async command(command: Command): Promise<Answer> {
    const answer = await this.send(command);
    if (answer.status < 300) this.acknowledged.push({ ...command, status: answer.status, text: answer.text });
    return answer;
  }

  /** Sends a command once. Null: nobody answered. */
  async sendOnce(command: Command): Promise<Answer | null> {
    const [address = ''] = this.addresses[command.side];
    try {
      return await this.sendTo(address, command);
    } catch {
      return null;
    }
  }

  /** Is a service ready? Nobody's answer is none. */
  isReady(side: Side): Promise<boolean> {
    return this.ask(`${this.addresses[side][0] ?? ''}/health/ready`, {}).then(
      ({ status }) => status === 200,
      () => false,
    );
  }

  /** Sends a command and remembers nothing. */
  send(command: Command): Promise<Answer> {
    return this.persistently(command.side, command.path, (address) => this.sendTo(address, command));
  }

  private async sendTo(address: string, { path, body, person, key }: Command): Promise<Answer> {
    return this.ask(`${address}${path}`, {
      method: 'POST',
      headers: { ...(await this.authorization(person)), 'idempotency-key': key, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  private async persistently(side: Side, path: string, once: (address: string) => Promise<Answer>): Promise<Answer> {
    const deadlineAt = Date.now() + PATIENCE_MS;
    const all = this.addresses[side];
    let last: unknown = null;
    for (let turn = 0; Date.now() < deadlineAt; turn += 1) {
      try {
        const answer = await once(all[turn % all.length] ?? '');
        if (answer.status < 500) return answer;
        last = answer;
      } catch (cause) {
        last = cause;
      }
      await pause(PAUSE_MS);
    }
    throw new Error(
      `${side} ${path} gave no answer for ${String(PATIENCE_MS / 1_000)} s: ${last instanceof Error ? [last.message, last.cause instanceof Error ? last.cause.message : ''].join(' ') : JSON.stringify(last)}`,
    );
  }

  private async ask(url: string, init: RequestInit): Promise<Answer> {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(ANSWER_MS) });
    const text = await response.text();
    return { status: response.status, text, body: factsIn(text) };
  }

  private async authorization(person: Person | undefined): Promise<Readonly<Record<string, string>>> {
    if (person === undefined) return {};
    const token = this.tokens.get(person.subject) ?? this.tokenOf(person);
    this.tokens.set(person.subject, token);
    return { authorization: `Bearer ${await token}` };
  }

  private async tokenOf(person: Person): Promise<string> {
    return String((await this.post('issuer', '/token', person)).body['access_token']);
  }
}

function factsIn(text: string): Facts {
  try {
    const parsed: unknown = JSON.parse(text);
    return factsOf(parsed);
  } catch {
    return {};
  }
}

/** An object's members; none when it is no object. */
export function factsOf(value: unknown): Facts {
  // Every JSON object has this shape.
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Facts) : {};
}

/** The objects of a list. */
export function listOf(value: unknown): readonly Facts[] {
  return Array.isArray(value) ? value.map(factsOf) : [];
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
