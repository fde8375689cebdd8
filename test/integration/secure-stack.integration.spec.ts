// A stranger on the broker of a secure stack: a client without any of our code, as nobody, as a consumer, as the worker of
// another adapter and as an agent. Each attempt is refused by the broker itself, and none changes anything. Then the same
// cluster beside its plan, whole and tampered with.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run } from '@recourse/cli';
import { factsOf, SERVICES } from '@recourse/dev-stack';
import { rawClient } from '@recourse/kafka';
import type { GroupAttempts } from '@recourse/kafka';
import type { Failure } from '@recourse/kernel';
import { plannedSubjects, plannedTopics } from '@recourse/service/provision';
import { ADAPTERS, append, beginAs, CALL_MS, joinGroup, refusalOf, SecureScene, withAdmin } from './secure.testing.js';
import type { RawAdmin } from './secure.testing.js';

const STACK_MS = 240_000;
const [REQUESTS, RESULTS, LOG] = ['recourse.tool-requests.payments', 'recourse.tool-results', 'recourse.mutations'];
const LOGS = [LOG, ...['contracts', 'assumptions', 'recoveries', 'budgets', 'rollback-notifications'].map(named)];
const COMMANDS = ['registry', 'ledger', 'recovery', 'budget'].map((of) => named(`${of}-commands`));
const GROUPS = SERVICES.map(named);
const TOPIC_REFUSED = 'TOPIC_AUTHORIZATION_FAILED';
const CLUSTER_REFUSED = 'CLUSTER_AUTHORIZATION_FAILED';

const DENIED = 'GROUP_AUTHORIZATION_FAILED';
const GROUP_REFUSED: GroupAttempts = { join: DENIED, commit: DENIED, look: DENIED, delete: DENIED };

/** Strangers, with a group and a topic of their own: what they may do. */
const STRANGERS = [
  { user: 'loyalty', group: 'loyalty', topic: 'recourse.rollback-notifications' },
  { user: 'mail-worker', group: 'mail-workers', topic: 'recourse.tool-requests.mail' },
  { user: 'agent', group: 'agent', topic: 'recourse.tool-executions' },
] as const;

let scene: SecureScene;

beforeAll(async () => {
  scene = await SecureScene.start();
}, STACK_MS);
afterAll(() => scene.close(), STACK_MS);

function named(name: string): string {
  return `recourse.${name}`;
}

describe('a client that does not say who it is, or says so falsely', () => {
  it.each([
    ['nobody', undefined],
    ['a service with a guessed password', { mechanism: 'scram-sha-512', username: 'mutation-ledger', password: 'x' }],
    ['a user that is not there', { mechanism: 'scram-sha-512', username: 'root', password: 'x' }],
    ['the owner with a guessed password', { mechanism: 'plain', username: 'stack', password: 'x' }],
  ] as const)(
    'is not let in: %s',
    async (_, sasl) => {
      await expect(
        withAdmin(rawClient(scene.stack.kafka.brokers, sasl), (admin) => admin.listTopics()),
      ).rejects.toThrow();
    },
    CALL_MS,
  );

  it(
    'finds no other way in through the controller, also with the password of a user',
    async () => {
      const controller = [`127.0.0.1:${String(scene.stack.ports.controller)}`];
      const agent = { mechanism: 'scram-sha-512', username: 'agent', password: scene.passwordOf('agent') } as const;
      for (const sasl of [undefined, agent])
        await expect(withAdmin(rawClient(controller, sasl), (admin) => admin.listTopics())).rejects.toThrow();
    },
    CALL_MS,
  );
});

describe.each(STRANGERS)('the broker refuses $user', ({ user, group: own, topic: readable }) => {
  const asAdmin = (act: (admin: RawAdmin) => Promise<unknown>): Promise<string> =>
    refusalOf(withAdmin(scene.clientOf(user), act));
  let before: object = {};
  beforeAll(async () => {
    before = await scene.standing();
  }, CALL_MS);

  it.each([...LOGS, ...COMMANDS, REQUESTS, 'recourse.tool-requests.mail'])(
    'to append to %s',
    async (topic) => {
      expect(await refusalOf(append(scene.clientOf(user), topic))).toBe(TOPIC_REFUSED);
    },
    CALL_MS,
  );

  it(
    'to read what is asked of the workers of payments, or to join them',
    async () => {
      expect(await refusalOf(joinGroup(scene.clientOf(user), own, REQUESTS))).toBe(TOPIC_REFUSED);
      expect(await asAdmin((admin) => admin.fetchTopicOffsets(REQUESTS))).toBe(TOPIC_REFUSED);
      expect(await scene.tryGroup(user, 'payments-workers', readable)).toEqual(GROUP_REFUSED);
    },
    CALL_MS,
  );

  it.each(GROUPS)(
    'to join %s, or to commit, see and delete its offsets',
    async (group) => {
      expect(await scene.tryGroup(user, group, readable)).toEqual(GROUP_REFUSED);
    },
    CALL_MS,
  );

  it(
    'to make, alter, empty or delete a topic',
    async () => {
      const retention = { type: 2, name: LOG, configEntries: [{ name: 'retention.ms', value: '1000' }] };
      const codes = [
        await asAdmin((admin) => admin.deleteTopics({ topics: [LOG] })),
        await asAdmin((admin) => admin.createPartitions({ topicPartitions: [{ topic: LOG, count: 9 }] })),
        await asAdmin((admin) => admin.createTopics({ topics: [{ topic: 'recourse.tool-requests.own' }] })),
        await asAdmin((admin) => admin.alterConfigs({ validateOnly: false, resources: [retention] })),
        await asAdmin(async (admin) => {
          await admin.fetchTopicMetadata({ topics: [readable] });
          await admin.deleteTopicRecords({ topic: readable, partitions: [{ partition: 0, offset: '-1' }] });
        }),
      ];
      expect(codes).toEqual([TOPIC_REFUSED, TOPIC_REFUSED, TOPIC_REFUSED, TOPIC_REFUSED, TOPIC_REFUSED]);
    },
    CALL_MS,
  );

  it(
    'to see topics that are not its own, which is told as refused and not as missing',
    async () => {
      const told = await scene.asOurs(
        async (admin) => [
          await admin.partitionCount(readable),
          await admin.partitionCount(COMMANDS[0] ?? '').catch((error: unknown) => (error as Failure).code),
        ],
        scene.accessOf(user),
      );
      expect(told).toEqual([expect.any(Number), 'BROKER_REFUSED']);
      expect(await scene.asOurs((admin) => admin.partitionCount('recourse.nowhere'))).toBeNull();
    },
    CALL_MS,
  );

  it(
    'to look at rules of access, to make some, and to give a service another password',
    async () => {
      const codes = await scene.asOurs(
        async (admin) => [
          await refusalOf(admin.accessRules()),
          await refusalOf(admin.applyAccess([])),
          await refusalOf(admin.setPasswords({ 'mutation-ledger': 'mine now' })),
        ],
        scene.accessOf(user),
      );
      expect(codes).toEqual([CLUSTER_REFUSED, CLUSTER_REFUSED, CLUSTER_REFUSED]);
    },
    CALL_MS,
  );

  it(
    'and nothing has come of any of it',
    async () => {
      expect(await scene.standing()).toEqual(before);
    },
    CALL_MS,
  );
});

describe('the broker tells apart', () => {
  it.each([
    ['agent', RESULTS],
    ['loyalty', RESULTS],
    ['agent', 'recourse.consumer-acks'],
    ['mail-worker', 'recourse.consumer-acks'],
    ['loyalty', 'recourse.assumption-events'],
    ['mail-worker', 'recourse.assumption-events'],
    ['budget-accountant', LOG],
    ['mutation-ledger', 'recourse.recoveries'],
    ['notifier', 'recourse.budgets'],
    ['operator', LOG],
  ])(
    'who writes what: not %s to %s',
    async (user, topic) => {
      expect(await refusalOf(append(scene.clientOf(user), topic))).toBe(TOPIC_REFUSED);
    },
    CALL_MS,
  );

  it(
    'transactions by the name of their producer: nobody fences or ends those of another',
    async () => {
      const begun = async (user: string, name: string): Promise<string> =>
        refusalOf(beginAs(scene.clientOf(user), name));
      // The broker makes the topic of transactions when it is asked for the first one that it allows.
      while ((await begun('agent', 'agent')) !== 'done');
      // The client keeps no reason: it finds no coordinator that it may ask.
      for (const user of STRANGERS.map((stranger) => stranger.user))
        for (const name of ['mutation-ledger', 'judge', 'agent-2'])
          expect(await begun(user, name)).toContain('Failed to find group coordinator');
      expect(await begun('agent', 'agent')).toBe('done');
    },
    CALL_MS,
  );

  it(
    'services from each other: none joins the group of another',
    async () => {
      const group = 'recourse.recovery-orchestrator';
      expect(await scene.tryGroup('mutation-ledger', group, RESULTS)).toEqual(GROUP_REFUSED);
    },
    CALL_MS,
  );
});

describe('the broker tells workers that act from those that observe what they did', () => {
  it.each([
    ['mail-worker', 'mail-observers', 'recourse.tool-requests.mail'],
    ['payments-worker', 'payments-observers', REQUESTS],
    ['worker-observer', 'payments-workers', REQUESTS],
  ])(
    'so that none takes the work of the other: not %s in %s',
    async (user, group, topic) => {
      expect(await scene.tryGroup(user, group, topic)).toEqual(GROUP_REFUSED);
    },
    CALL_MS,
  );
});

describe('the schema registry of a secure stack', () => {
  it.each([
    ['DELETE', '/subjects/recourse.mutations-recourse.log.Progress', undefined],
    ['PUT', '/config/recourse.mutations-recourse.log.Progress', { compatibility: 'NONE' }],
    ['PUT', '/config', { compatibility: 'NONE' }],
    ['POST', '/subjects/mine/versions', { schema: '{"type":"string"}' }],
  ])('lets strangers read, and refuses %s %s', async (method, path, body) => {
    const authorization = `Basic ${Buffer.from('stack:guessed').toString('base64')}`;
    const answers = [
      await scene.askRegistry(method, path, body),
      await scene.askRegistry(method, path, body, { authorization }),
      await scene.askRegistry('GET', '/subjects', undefined),
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 200]);
  });
});

describe('the passwords of a secure stack', () => {
  it('are each in a file that nobody else reads, and in no argument or variable of a process', () => {
    const { stack, plan, dataDir } = scene;
    const files = [
      stack.owner?.passwordFile ?? '',
      ...['operator', 'agent', ...SERVICES].map((user) => join(dataDir, 'secrets', 'users', `${user}.password`)),
    ];
    const said = JSON.stringify([plan.processes, factsOf(stack)]);
    for (const file of files) {
      expect(statSync(file).mode & 0o077).toBe(0);
      expect(said).not.toContain(readFileSync(file, 'utf8').trim());
    }
    for (const config of ['kafka/kafka.properties', 'registry/owner.properties'])
      expect(statSync(join(stack.dataDir, config)).mode & 0o077).toBe(0);
  });
});

interface Report {
  readonly differences: readonly { readonly code: string; readonly where: string; readonly mend: string }[];
}

/** `recourse provision --check --json`, as the operator runs it. */
async function check(): Promise<{ readonly code: number; readonly report: Report }> {
  const [out, note]: [string[], string[]] = [[], []];
  const terminal = {
    out: (text: string) => void out.push(text),
    note: (text: string) => void note.push(text),
    isInteractive: false,
    ask: () => Promise.resolve(''),
  };
  const environment = { RECOURSE_DATA_DIR: scene.dataDir };
  const code = await run(['provision', '--check', '--json'], { terminal, environment, folder: scene.dataDir, fetch });
  if (out.length === 0) throw new Error(note.join('\n'));
  // What provision.command.ts shows.
  return { code, report: JSON.parse(out.join('\n')) as Report };
}

describe('recourse provision --check', () => {
  it(
    'finds a cluster as it was provisioned, and exits 0',
    async () => {
      const planned = { adapters: ADAPTERS, partitions: 2, replication: 1, min_insync_replicas: 1 };
      const [topics, subjects] = [plannedTopics(planned).length, plannedSubjects(planned).length];
      expect(await check()).toMatchObject({ code: 0, report: { ok: true, topics, subjects, differences: [] } });
    },
    CALL_MS,
  );

  it(
    'names each thing that was tampered with, and exits 1',
    async () => {
      const subject = (record: string): string => `${LOG}-${LOG}.${record}`;
      const retention = { type: 2, name: LOG, configEntries: [{ name: 'retention.ms', value: '60000' }] };
      await withAdmin(scene.owner(), async (admin) => {
        await admin.createPartitions({ topicPartitions: [{ topic: RESULTS, count: 5 }] });
        await admin.alterConfigs({ validateOnly: false, resources: [retention] });
      });
      await scene.asOurs(async (admin) => {
        const rules = (await admin.accessRules()) ?? [];
        const gone = rules.find(({ principal, name }) => principal === 'User:loyalty' && name.endsWith('-acks'));
        await admin.applyAccess(rules.filter((rule) => rule !== gone));
      });
      await scene.asWriter('DELETE', `/subjects/${subject('MutationSettled')}`);
      await scene.asWriter('PUT', `/config/${subject('WindowClosing')}`, { compatibility: 'NONE' });
      const { code, report } = await check();
      const told = report.differences.map((one) => `${one.code} ${one.where}`);
      expect(code).toBe(1);
      for (const difference of [
        `PARTITIONS_DIFFER ${RESULTS}`,
        `SETTING_DIFFERS ${LOG} retention.ms`,
        'ACCESS_MISSING User:loyalty topic recourse.consumer-acks',
        `SUBJECT_MISSING ${subject('MutationSettled')}`,
        `COMPATIBILITY_DIFFERS ${subject('WindowClosing')}`,
      ])
        expect(told).toContain(difference);
      // What altering a setting takes with it is its other settings, of the same topic.
      expect(told.filter((one) => !one.startsWith(`SETTING_DIFFERS ${LOG} `))).toHaveLength(4);
      expect(report.differences.filter(({ mend }) => mend.length === 0)).toEqual([]);
    },
    CALL_MS,
  );
});
