// What must hold after many deaths, asked of the logs, the provider and the services.
import { genesisHead, verifyLog } from '@recourse/chain';
import type { StoredRecord } from '@recourse/chain';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { RawReader } from '@recourse/kafka';
import { deriveId } from '@recourse/kernel';
import { createCodecs, TOPICS } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import type { Arena } from './arena.js';
import { PARTITIONS } from './arena.js';
import { factsOf, listOf, OPERATOR, pause } from './edge.js';
import type { Acknowledged, Facts } from './edge.js';
import type { Story } from './story.js';

export interface LogSeen {
  readonly topic: string;
  readonly partition: number;
  readonly accepted: number;
  readonly voids: number;
}
export interface Proof {
  readonly problems: readonly string[];
  readonly logs: readonly LogSeen[];
}

const LOGS = TOPICS.filter(({ kind }) => kind !== 'wire');
const REQUESTS = TOPICS.filter(({ name }) => name.startsWith('recourse.tool-requests.')).map(({ name }) => name);
const STORY_OF_A_CONSUMER = ['RollbackAnnounced', 'RollbackSettled'];
const SETTLES_WITHIN_MS = 20_000;
const POLL_MS = 200;
const PAGE = 500;
const READ_TRIES_MAX = 5;

/** Chains of all logs from offset 0, answers of all acknowledged commands, what consumers heard, what runs still owe. */
export async function prove(arena: Arena, stories: readonly Story[]): Promise<Proof> {
  const answered = new Set<string>();
  const { problems, logs } = await verifyChains(arena, answered);
  return {
    logs,
    problems: [
      ...problems,
      ...lostOf(arena.edge.acknowledged, answered),
      ...(await replayed(arena)),
      ...(await doubled(arena)),
      ...(await heard(arena, stories)),
      ...(await owed(arena, stories)),
    ],
  };
}

/** Records on the topics that workers read, per partition. */
export async function requestsSent(arena: Arena): Promise<readonly number[]> {
  return withReader(arena, async (reader) => {
    const counts: number[] = [];
    for (const topic of REQUESTS)
      for (let partition = 0; partition < PARTITIONS; partition += 1)
        counts.push((await reader.range(topic, partition)).high);
    return counts;
  });
}

/** Chains of all logs from offset 0; notes which commands have their answer in them. */
export async function verifyChains(arena: Arena, answered: Set<string>): Promise<Proof> {
  const codecs = createCodecs(createSchemaRegistry({ url: arena.stack.registryUrl }));
  return withReader(arena, async (reader) => {
    const problems: string[] = [];
    const logs: LogSeen[] = [];
    for (const { name: topic, partitioned } of LOGS) {
      const partitionCount = partitioned ? PARTITIONS : 1;
      for (let partition = 0; partition < partitionCount; partition += 1) {
        const records = await recordsOf(reader, topic, partition);
        await answersIn(codecs, records, answered);
        const report = verifyLog(records, {
          genesis: genesisHead({ logId: arena.plan.logId, topic, partition, partitionCount }),
          fingerprintOf: codecs.fingerprintOf,
        });
        logs.push({ topic, partition, accepted: report.accepted, voids: report.voids });
        problems.push(
          ...report.findings.map((finding) => `chain of ${topic}/${String(partition)}: ${JSON.stringify(finding)}`),
        );
      }
    }
    return { problems, logs };
  });
}

async function recordsOf(reader: RawReader, topic: string, partition: number): Promise<readonly StoredRecord[]> {
  const { low, high } = await reader.range(topic, partition);
  const records: StoredRecord[] = [];
  for (let at = low; at < high;) {
    const batch = await reader.read(topic, partition, at);
    records.push(...batch.records);
    at = (batch.records.at(-1)?.offset ?? high) + 1;
  }
  return records;
}

/** Loads every schema that is met, and notes which commands were answered. */
async function answersIn(codecs: Codecs, records: readonly StoredRecord[], answered: Set<string>): Promise<void> {
  for (const { value } of records) {
    let decoded = codecs.decodeSync(value);
    if (decoded.kind === 'unknown_schema') {
      await codecs.load(decoded.id);
      decoded = codecs.decodeSync(value);
    }
    if (decoded.kind === 'decoded' && decoded.type === 'CommandAnswered')
      answered.add(String(factsOf(decoded.body)['command_id']));
  }
}

function lostOf(acknowledged: readonly Acknowledged[], answered: ReadonlySet<string>): readonly string[] {
  const idOf = ({ person, path, key }: Acknowledged): string =>
    deriveId('cmd', person.tenant, person.subject, `POST ${path}`, key);
  return acknowledged
    .filter((command) => !answered.has(idOf(command)))
    .map(
      ({ path, key, status }) =>
        `the command ${key} (${path}) was acknowledged with ${String(status)} and has no answer in any log`,
    );
}

/** The same command again gets the stored answer, word for word. */
async function replayed(arena: Arena): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const command of arena.edge.acknowledged) {
    const again = await arena.edge.send(command);
    const isSame =
      command.status === 202
        ? again.status < 300 && again.status !== 202
        : again.status === command.status && again.text === command.text;
    if (!isSame)
      problems.push(
        `${command.key} was answered ${String(command.status)} ${command.text}, and asked again ${String(again.status)} ${again.text}`,
      );
  }
  return problems;
}

/** Money that moved twice, counted again where it moves: a late request may have come after its run had ended. */
async function doubled(arena: Arena): Promise<readonly string[]> {
  const { body } = await arena.edge.get('provider', '/effects');
  const times = new Map<string, number>();
  for (const effect of listOf(body['effects'])) {
    const what = `${String(effect['kind'])} of ${String(effect['refund_id'])}`;
    times.set(what, (times.get(what) ?? 0) + 1);
  }
  return [...times]
    .filter(([, count]) => count > 1)
    .map(([what, count]) => `the provider counts ${String(count)} times the ${what}`);
}

/** The consumer heard rollback and ending of every run, in this order. */
async function heard(arena: Arena, stories: readonly Story[]): Promise<readonly string[]> {
  const typesOf = (all: readonly Facts[], { mutationId }: Story): readonly string[] => [
    ...new Set(all.filter((each) => each['mutation_id'] === mutationId).map((each) => String(each['type']))),
  ];
  const isWhole = (types: readonly string[]): boolean => types.join() === STORY_OF_A_CONSUMER.join();
  const { body } = await settled(async () => {
    const answer = await arena.edge.get('loyalty', '/notifications');
    return {
      ...answer,
      isSettled: stories.every((story) =>
        isWhole(typesOf(listOf(answer.body['notifications'] ?? answer.body['items']), story)),
      ),
    };
  });
  const all = listOf(body['notifications'] ?? body['items']);
  return stories
    .map((story) => ({ story, types: typesOf(all, story) }))
    .filter(({ types }) => !isWhole(types))
    .map(({ story, types }) => `the consumer heard of ${story.mutationId}: ${types.join(', ') || 'nothing'}`);
}

/** What a run spent on a refund that was taken back is free again. */
async function owed(arena: Arena, stories: readonly Story[]): Promise<readonly string[]> {
  const unpaid = (budgets: readonly Facts[]): readonly string[] =>
    stories
      .filter(({ runId }) => budgets.find((budget) => budget['scope_id'] === runId)?.['used_minor'] !== 0)
      .map(
        ({ runId }) =>
          `the run ${runId} still owes: ${JSON.stringify(budgets.find((budget) => budget['scope_id'] === runId) ?? null)}`,
      );
  const { problems } = await settled(async () => {
    const found = unpaid(await budgetsOf(arena));
    return { problems: found, isSettled: found.length === 0 };
  });
  return problems;
}

async function budgetsOf(arena: Arena): Promise<readonly Facts[]> {
  const budgets: Facts[] = [];
  let cursor = '';
  do {
    const { body } = await arena.edge.get('budget', `/v1/budgets?scope=run&limit=${String(PAGE)}${cursor}`, OPERATOR);
    budgets.push(...listOf(body['items']));
    cursor = typeof body['next_cursor'] === 'string' ? `&cursor=${encodeURIComponent(body['next_cursor'])}` : '';
  } while (cursor !== '');
  return budgets;
}

/** Asks until it is settled, or for as long as it may take. */
async function settled<T extends { readonly isSettled: boolean }>(look: () => Promise<T>): Promise<T> {
  const deadlineAt = Date.now() + SETTLES_WITHIN_MS;
  for (;;) {
    const seen = await look();
    if (seen.isSettled || Date.now() > deadlineAt) return seen;
    await pause(POLL_MS);
  }
}

/** Works with a reader of its own; from the start again when the broker does not answer, as after one of its deaths. */
async function withReader<T>(arena: Arena, work: (reader: RawReader) => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    const reader = await createKafka({ brokers: arena.stack.kafka.brokers, clientId: 'crash-proof' }).rawReader();
    try {
      return await work(reader);
    } catch (cause) {
      if (tries === READ_TRIES_MAX) throw cause;
      await pause(POLL_MS * tries);
    } finally {
      await reader.close();
    }
  }
}
