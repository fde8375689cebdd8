// A secure stack with its users and nothing running on it, and what strangers try there. No record is read or written by our
// own clients: what is refused, the broker refuses.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { planSystem, startTestStack } from '@recourse/dev-stack';
import type { DevStack, SystemPlan } from '@recourse/dev-stack';
import { createKafka, rawClient, tryGroup } from '@recourse/kafka';
import type { GroupAttempts, KafkaAccess, KafkaAdmin } from '@recourse/kafka';

export const ADAPTERS = ['payments', 'mail'];
export const CALL_MS = 60_000;

type Client = ReturnType<typeof rawClient>;
export type RawAdmin = ReturnType<Client['admin']>;

export class SecureScene {
  private constructor(
    readonly stack: DevStack,
    readonly plan: SystemPlan,
    readonly dataDir: string,
  ) {}

  static async start(): Promise<SecureScene> {
    const stack = await startTestStack({ secure: true, withSchemas: true });
    const dataDir = mkdtempSync(join(tmpdir(), 'recourse-secure-'));
    try {
      return new SecureScene(
        stack,
        await planSystem(stack, { dataDir, adapters: ADAPTERS, withNotifier: true }),
        dataDir,
      );
    } catch (cause) {
      await stack.stop();
      throw cause;
    }
  }

  async close(): Promise<void> {
    await this.stack.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  passwordOf(user: string): string {
    return readFileSync(join(this.dataDir, 'secrets', 'users', `${user}.password`), 'utf8').trim();
  }

  ownerPassword(): string {
    return readFileSync(this.stack.owner?.passwordFile ?? '', 'utf8').trim();
  }

  accessOf(user: string): KafkaAccess & { readonly sasl: NonNullable<KafkaAccess['sasl']> } {
    return { sasl: { mechanism: 'scram-sha-512', username: user, password: this.passwordOf(user) } };
  }

  /** A client without any of our code. */
  clientOf(user: string): Client {
    const password = this.passwordOf(user);
    return rawClient(this.stack.kafka.brokers, { mechanism: 'scram-sha-512', username: user, password });
  }

  /** Every request about a group that is not the user's. */
  tryGroup(user: string, group: string, topic: string): Promise<GroupAttempts> {
    const options = { brokers: this.stack.kafka.brokers, clientId: 'stranger', ...this.accessOf(user) };
    return tryGroup(options, group, topic);
  }

  /** The one above the rules. */
  owner(): Client {
    const { name = '' } = this.stack.owner ?? {};
    return rawClient(this.stack.kafka.brokers, { mechanism: 'plain', username: name, password: this.ownerPassword() });
  }

  /** Our own administrator, for what the raw client has no request for; the owner unless told. */
  async asOurs<T>(act: (admin: KafkaAdmin) => Promise<T>, access = this.ownerAccess()): Promise<T> {
    const admin = await createKafka({ brokers: this.stack.kafka.brokers, clientId: 'spec', ...access }).admin();
    try {
      return await act(admin);
    } finally {
      await admin.close();
    }
  }

  /** Everything an attempt could have changed. */
  standing(): Promise<object> {
    return withAdmin(this.owner(), async (admin) => {
      const topics = (await admin.listTopics()).filter((name) => !name.startsWith('__')).sort();
      const ends = await Promise.all(topics.map((topic) => endsOf(admin, topic)));
      const { groups } = await admin.listGroups();
      return {
        ends: topics.map((topic, at) => [topic, ends[at]]),
        groups: groups.map(({ groupId }) => groupId).sort(),
        access: await this.asOurs((ours) => ours.accessRules()),
        facts: await this.asOurs((ours) => ours.topicFacts(topics)),
      };
    });
  }

  /** Asks the registry as its one writer. */
  async asWriter(method: string, path: string, body?: object): Promise<void> {
    const credentials = Buffer.from(`${this.stack.owner?.name ?? ''}:${this.ownerPassword()}`).toString('base64');
    const answer = await this.askRegistry(method, path, body, { authorization: `Basic ${credentials}` });
    if (!answer.ok) throw new Error(`${method} ${path} answered ${String(answer.status)}`);
  }

  askRegistry(
    method: string,
    path: string,
    body: object | undefined,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Response> {
    return fetch(`${this.stack.registryUrl}${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  }

  private ownerAccess(): KafkaAccess {
    return { sasl: { mechanism: 'plain', username: this.stack.owner?.name ?? '', password: this.ownerPassword() } };
  }
}

/** How often a topic that was just made is asked for again, and how long after, milliseconds. */
const [LEADER_TRIES, LEADER_WAIT_MS] = [40, 250];

/** Ends of the partitions of a topic; a broker may not know yet that it leads one that was just made. */
async function endsOf(admin: RawAdmin, topic: string): Promise<unknown> {
  for (let tries = 1; ; tries += 1)
    try {
      return await admin.fetchTopicOffsets(topic);
    } catch (cause) {
      const isToCome = (cause as { readonly type?: unknown }).type === 'NOT_LEADER_FOR_PARTITION'; // how kafkajs tells it
      if (!isToCome || tries === LEADER_TRIES) throw cause;
      await setTimeout(LEADER_WAIT_MS);
    }
}

export async function withAdmin<T>(client: Client, act: (admin: RawAdmin) => Promise<T>): Promise<T> {
  const admin = client.admin();
  await admin.connect();
  try {
    return await act(admin);
  } finally {
    await admin.disconnect();
  }
}

/** Appends one record, whatever is in it. */
export async function append(client: Client, topic: string): Promise<unknown> {
  const producer = client.producer();
  await producer.connect();
  try {
    return await producer.send({ topic, messages: [{ key: 'run-1', value: 'forged', partition: 0 }] });
  } finally {
    await producer.disconnect();
  }
}

/** Begins a transaction under a name. */
export async function beginAs(client: Client, transactionalId: string): Promise<void> {
  const producer = client.producer({
    transactionalId,
    maxInFlightRequests: 1,
    idempotent: true,
    retry: { retries: 1 },
  });
  await producer.connect();
  try {
    await (await producer.transaction()).abort();
  } finally {
    await producer.disconnect();
  }
}

/** Joins a group and reads a topic, as far as the broker lets it. */
export async function joinGroup(client: Client, groupId: string, topic: string): Promise<void> {
  const consumer = client.consumer({ groupId, retry: { retries: 0, restartOnFailure: () => Promise.resolve(false) } });
  const { promise: joined, resolve, reject } = Promise.withResolvers<undefined>();
  joined.catch(() => undefined);
  consumer.on(consumer.events.CRASH, ({ payload: { error } }) => {
    reject(error);
  });
  consumer.on(consumer.events.GROUP_JOIN, () => {
    resolve(undefined);
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await Promise.all([consumer.run({ eachMessage: () => Promise.resolve() }), joined]);
  } finally {
    await consumer.disconnect();
  }
}

/** Kafka's name for a refusal, wherever a client has put it; `done` when there was none. */
export async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  try {
    await attempt;
    return 'done';
  } catch (error) {
    return refusalIn(error) ?? `no refusal: ${String(error)}`;
  }
}

function refusalIn(error: unknown): string | null {
  if (typeof error !== 'object' || error === null) return null;
  if ('type' in error && typeof error.type === 'string') return error.type;
  // @platformatic/kafka has it there.
  if ('apiId' in error && typeof error.apiId === 'string') return error.apiId;
  const below: readonly unknown[] = [
    ...('errors' in error && Array.isArray(error.errors) ? (error.errors as unknown[]) : []),
    ...('partitions' in error && Array.isArray(error.partitions) ? (error.partitions as unknown[]) : []),
    ...('error' in error ? [error.error] : []),
    ...('cause' in error ? [error.cause] : []),
  ];
  return below.map(refusalIn).find((found) => found !== null) ?? null;
}
