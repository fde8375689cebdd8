// Consumers on real parts: who subscribed hears the commit before its rollback and answers; who is silent is told to a person; forged answers close nothing (E18, E19, E25, E26, E40, E43, E50).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, dropDatabase } from '@recourse/dev-stack';
import { createKafka } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { deriveId } from '@recourse/kernel';
import { ACKS_TOPIC, createRollbackConsumer, createRollbackPoll, MemoryInbox, systemClock } from '@recourse/sdk';
import type { RollbackConsumer } from '@recourse/sdk';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startDownstream } from '../../examples/downstream/src/index.js';
import { commandsIn, put, runCommand, yamlIn } from './guide.testing.js';
import { executed, itemsOf, OPERATOR, PARTITIONS, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const GUIDE = 'consume-rollback-notifications';
let system: System;
let kafka: Kafka;
const stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  system = await startSystem({
    envOf: {
      'mutation-ledger': { RECOURSE_SOURCE_TRUST: 'off', RECOURSE_ACK_SYNC_MS: '3000', RECOURSE_ACK_ASYNC_MS: '2000' },
    },
  });
  kafka = createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'consumers' });
  await system.codecs.prepareWriter(ACKS_TOPIC, { register: false });
}, 400_000);
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  await system.stop();
}, 60_000);

interface Made {
  readonly runId: string;
  readonly mutationId: string;
  readonly ref: string;
}

async function subscribe(name: string, more: Facts): Promise<void> {
  const entry = {
    owner: 'platform',
    doc: 'Hears of rollbacks.',
    consumer: name,
    mode: 'async',
    commit_to_user_ms: 5_000,
    ...more,
  };
  const { status, body } = await system.post(
    'registry',
    '/v1/entries/subscription',
    { name, entry },
    { person: OPERATOR, key: name },
  );
  if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
}

/** An effect on record that relies on a ref of its own. */
async function refunded(agentId: string, partition: number): Promise<Made> {
  const runId = runOn(partition, agentId);
  const ref = `order/${runId}#open`;
  const told = executed(runId, { agentId, assumptionRefs: [ref] });
  await system.send('recourse.tool-executions', runId, await framed('recourse.tool-executions', 'ToolExecuted', told));
  const mutationId = deriveId('mut', TENANT, runId, told.effect_key);
  await until('the mutation', async () =>
    (await system.get('ledger', `/v1/mutations/${mutationId}`)).status === 200 ? true : null,
  );
  return { runId, mutationId, ref };
}

async function framed(topic: string, type: string, body: object): Promise<Buffer> {
  await system.codecs.prepareWriter(topic, { register: false });
  return system.codecs.encode(topic, type, body);
}

const fall = ({ ref }: Made): Promise<string> =>
  system.producer.assumptionInvalidated({
    tenant: TENANT,
    ref,
    sourceKind: 'observation',
    statement: { open: false },
    statedAt: Date.now(),
  });
const deliveries = async (query: string): Promise<readonly Facts[]> =>
  itemsOf(await system.get('ledger', `/v1/deliveries?${query}`));
const phase = (consumer: string, { mutationId }: Made, wanted: string): Promise<true> =>
  until(
    `${consumer} ${wanted}`,
    async () =>
      (await deliveries(`consumer=${consumer}&mutation_id=${mutationId}`))[0]?.['phase'] === wanted ? true : null,
    60_000,
  );

/** A consumer of the SDK that lists what it hears. */
async function listener(
  consumer: string,
  scope: string,
  from: 'beginning' | 'now' = 'beginning',
): Promise<{ readonly heard: string[]; readonly made: RollbackConsumer<unknown> }> {
  const heard: string[] = [];
  const made = createRollbackConsumer({
    kafka,
    codecs: system.codecs,
    logId: system.plan.logId,
    partitionCount: PARTITIONS,
    clock: systemClock,
    subscription: { consumer, scope, mode: 'async' },
    inbox: new MemoryInbox(),
    from,
    pollMs: 20,
    onCommit: ({ commitId }) => {
      heard.push(`commit ${commitId}`);
      return Promise.resolve();
    },
    onRollback: ({ commitId }) => {
      heard.push(`rollback ${commitId}`);
      return Promise.resolve();
    },
  });
  await made.start();
  stops.push(() => made.stop());
  return { heard, made };
}

describe('consumers of rollbacks', () => {
  it('hear the commit and then its rollback, in their scope alone, and answer; who is silent is told to a person', async () => {
    await subscribe('mailer', { scope: `${TENANT}/agent-mail` });
    await subscribe('silent', { scope: `${TENANT}/agent-mail`, mode: 'async' });
    const { heard } = await listener('mailer', `${TENANT}/agent-mail`);
    const [mine, other] = [await refunded('agent-mail', 0), await refunded('agent-other', 1)];
    await fall(other);
    await fall(mine);
    await phase('mailer', mine, 'acknowledged');
    expect(heard).toEqual([`commit ${mine.mutationId}`, `rollback ${mine.mutationId}`]);
    await phase('silent', mine, 'overdue');
    expect((await deliveries(`consumer=silent&phase=overdue`))[0]).toMatchObject({
      mode: 'async',
      owner: 'role:administrator',
      run_id: mine.runId,
      answer: null,
    });
    expect(await deliveries(`mutation_id=${other.mutationId}`)).toEqual([]);
    const late = await listener('silent', `${TENANT}/agent-mail`);
    await phase('silent', mine, 'acknowledged');
    expect(late.heard).toEqual(heard);
    expect((await deliveries('consumer=silent'))[0]).toMatchObject({ answer: { is_late: true } });
  }, 200_000);

  it('cannot be answered for by somebody else', async () => {
    await subscribe('guarded', { scope: `${TENANT}/agent-guard` });
    const made = await refunded('agent-guard', 0);
    await fall(made);
    const [due] = await until('the delivery', async () => {
      const found = await deliveries(`consumer=guarded&mutation_id=${made.mutationId}`);
      return found.length > 0 ? found : null;
    });
    const ack = {
      event_id: 'forged-1',
      tenant: TENANT,
      run_id: made.runId,
      mutation_id: made.mutationId,
      rollback_id: String(due?.['rollback_id']),
      consumer: 'guarded',
      applied_at: Date.now(),
      derived: [],
      emissions: [],
    };
    for (const forged of [
      { tenant: 'globex' },
      { rollback_id: 'rb_forged' },
      { consumer: 'nobody' },
      { mutation_id: 'mut_forged' },
    ])
      await system.send(
        ACKS_TOPIC,
        made.runId,
        await framed(ACKS_TOPIC, 'RollbackAcknowledged', { ...ack, ...forged }),
      );
    await phase('guarded', made, 'overdue');
    await system.send(
      ACKS_TOPIC,
      made.runId,
      await framed(ACKS_TOPIC, 'RollbackAcknowledged', {
        ...ack,
        emissions: [{ kind: 'email', ref: 'm-1', emitted_at: Date.now() + 60_000 }],
      }),
    );
    await phase('guarded', made, 'acknowledged');
    const [report] = itemsOf(await system.get('ledger', '/v1/reports/consumers?consumer=guarded'));
    expect(report).toMatchObject({
      due: 1,
      acknowledged: 1,
      late_emissions: 1,
      late_containments: 1,
      misfit: true,
      why: 'EMITTED_AFTER_THE_MARK',
      advice: 'sync',
    });
  }, 200_000);

  it('that subscribe late hear what comes; a poll finds what fell, page by page, in its tenant alone', async () => {
    const before = await refunded('agent-poll', 0);
    await fall(before);
    await until(
      'the mark',
      async () =>
        itemsOf(await system.get('ledger', `/v1/rolled-back?scope=${TENANT}/agent-poll`)).length === 1 ? true : null,
      60_000,
    );
    await subscribe('poller', { scope: `${TENANT}/agent-poll`, mode: 'poll', commit_to_user_ms: 60_000 });
    const after = await refunded('agent-poll', 1);
    await fall(after);
    const heard: string[] = [];
    const poll = createRollbackPoll({
      edge: { url: system.plan.urls.ledger, token: () => system.token(OPERATOR) },
      kafka,
      codecs: system.codecs,
      clock: systemClock,
      subscription: { consumer: 'poller', scope: `${TENANT}/agent-poll`, mode: 'poll' },
      inbox: new MemoryInbox(),
      intervalMs: 200,
      onRollback: ({ commitId }) => {
        heard.push(commitId);
        return Promise.resolve();
      },
    });
    await poll.start();
    stops.push(() => poll.stop());
    await phase('poller', after, 'acknowledged');
    expect(heard.toSorted()).toEqual([before.mutationId, after.mutationId].toSorted());
    expect(await deliveries(`consumer=poller`)).toHaveLength(1);
    const foreign = { ...OPERATOR, tenant: 'globex' };
    expect((await system.get('ledger', `/v1/rolled-back?scope=${TENANT}`, foreign)).body).toMatchObject({
      code: 'TENANT_FOREIGN',
    });
    expect(itemsOf(await system.get('ledger', '/v1/rolled-back', foreign))).toEqual([]);
    expect((await system.get('ledger', '/v1/rolled-back?after=nonsense')).status).toBe(400);
    expect((await system.get('ledger', '/v1/rolled-back?scope=a//b')).status).toBe(400);
  }, 200_000);

  it('withdraw in their own transaction what they made of it, subscribed and seen as the guide says', async () => {
    const database = await createDatabase(
      system.stack,
      `downstream_${String(process.pid)}`,
      `downstream_${String(process.pid)}`,
      'reports',
    );
    const folder = mkdtempSync(join(tmpdir(), 'recourse-consumers-'));
    stops.push(() => {
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    });
    put(folder, 'subscriptions/reports.yaml', yamlIn(GUIDE));
    const guide = async (command: string) => runCommand(command, { system, person: OPERATOR, folder, variables: {} });
    const commands = commandsIn(GUIDE);
    for (const command of commands.slice(0, 2)) expect(await guide(command)).toMatchObject({ code: 0 });
    const downstream = await startDownstream({
      databaseUrl: database.url,
      kafka,
      codecs: system.codecs,
      logId: system.plan.logId,
      partitionCount: PARTITIONS,
      subscription: { consumer: 'reports', scope: `${TENANT}/agent-report` },
      onTrouble: () => undefined,
    });
    stops.push(async () => {
      await downstream.stop();
      await dropDatabase(system.stack, `downstream_${String(process.pid)}`);
    });
    const { reports, consumer } = downstream;
    const [falls, stands] = [await refunded('agent-report', 0), await refunded('agent-report', 1)];
    const refund = ({ runId, mutationId }: Made) => ({ runId, mutationId, amountMinor: 1_000 });
    const [fallen, standing] = [
      await reports.make(consumer, 'ada', [refund(falls), refund(stands)]),
      await reports.make(consumer, 'ada', [refund(stands)]),
    ];
    expect(await reports.publish(consumer, fallen?.id ?? '', 10_000)).toBe('published');
    await fall(falls);
    await phase('reports', falls, 'acknowledged');
    expect((await deliveries(`consumer=reports&mutation_id=${falls.mutationId}`))[0]).toMatchObject({
      answer: {
        derived: [{ run_id: 'refund-reports', commit_id: fallen?.id }],
        emissions: [{ kind: 'report', ref: fallen?.id }],
        late_emissions: 0,
      },
    });
    expect([
      await reports.publish(consumer, fallen?.id ?? '', 10_000),
      await reports.publish(consumer, standing?.id ?? '', 10_000),
    ]).toEqual(['fallen', 'published']);
    expect(await reports.make(consumer, 'ada', [refund(falls)])).toBeNull();
    for (const command of commands.slice(2))
      expect({ command, ...(await guide(command)) }).toMatchObject({
        code: 0,
        out: expect.stringContaining('acme') as unknown,
      });
    expect(commands).toHaveLength(5);
  }, 200_000);
});
