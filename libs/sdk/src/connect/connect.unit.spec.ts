// One call from a name to everything: what is found, what comes first, what is lacking, and what the guard keeps of types.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { contractBody } from '@recourse/contract';
import { MemoryInbox } from '../consumer/inbox.memory.js';
import { createRollbackConsumer } from '../consumer/rollback-consumer.js';
import { MemoryPositionStore } from '../stores/position-store.memory.js';
import { nodeProblem } from '../node-version.js';
import { turns } from '../worker/worker.testing.js';
import type { GuardTrouble } from '../guard/guard.messages.js';
import { connect } from './connect.js';
import { TEST_CONTRACT, TestStack, tokenOf } from './connect.testing.js';

const REFUND = 'payments.issue_refund';
const PLACE = {
  runId: 'run-1',
  stepId: 'refund',
  objective: 'refund order 4711',
  assumptionRefs: ['order/4711#not_shipped'],
};

let stack: TestStack;
beforeEach(async () => {
  stack = await TestStack.start();
  stack.contracts.set(REFUND, { contract: TEST_CONTRACT, retired: false });
});
afterEach(() => {
  stack.stop();
});

/** What a refund takes and gives, as its author wrote it: interfaces, no JSON types. */
interface Order {
  readonly order: string;
  readonly amount_minor: number;
}
interface Refunded {
  readonly refund_id: string;
  readonly paid: { readonly minor: number };
}
const issueRefund = ({ amount_minor }: Order): Promise<Refunded> =>
  Promise.resolve({ refund_id: 'rf_1', paid: { minor: amount_minor } });

describe('connect', () => {
  it('finds the development stack in a folder above, and needs nothing but a name', async () => {
    stack.leaveFile();
    const recourse = await connect(stack.options());
    expect(recourse).toMatchObject({ name: 'refund-agent', tenant: 'demo' });
    expect(stack.calls.map(({ path }) => path)).toEqual(['/token', '/v1/contracts?limit=1']);
    expect(stack.calls[0]?.body).toEqual({
      subject: 'refund-agent',
      tenant: 'demo',
      roles: ['agent', 'reporter', 'requester'],
    });
    expect(stack.calls[1]?.authorization).toBe(`Bearer ${tokenOf(stack.calls[0]?.body ?? {})}`);
    await recourse.close();
  });

  it('guards a tool under a contract by its name, and keeps its types', async () => {
    stack.leaveFile();
    const recourse = await connect(stack.options());
    const refund = await recourse.guard(issueRefund, { contract: REFUND });
    const answer = await refund({ order: '4711', amount_minor: 500 }, PLACE);
    if (answer.kind !== 'succeeded') throw new Error(JSON.stringify(answer));
    const minor: number | undefined = answer.value?.paid?.minor;
    expect(minor).toBe(500);
    // @ts-expect-error: an order has a number.
    const wrong = (): unknown => refund({ order: 4711, amount_minor: 500 }, PLACE);
    // @ts-expect-error: a refund has no such member.
    const unknown = (): unknown => answer.value?.settled;
    expect([wrong, unknown]).toHaveLength(2);
    expect(stack.producer.told).toMatchObject([
      {
        type: 'ToolPlanned',
        action: {
          tenant: 'demo',
          runId: 'run-1',
          agentId: 'refund-agent',
          stepId: 'refund',
          capability: REFUND,
          assumptionRefs: ['order/4711#not_shipped'],
        },
      },
      { type: 'ToolExecuted' },
    ]);
    await recourse.close();
  });

  it('takes no argument that its tool would get as something else, and tells a big number of a result as a text', async () => {
    stack.leaveFile();
    const recourse = await connect(stack.options());
    const pay = (_args: { readonly order: string; readonly amount_minor: number }) =>
      Promise.resolve({ refund_id: 9_007_199_254_740_993n });
    const refund = await recourse.guard(pay, {
      contract: REFUND,
      externalTransactionRef: ({ refund_id }) => String(refund_id),
    });
    const answer = await refund({ order: '4711', amount_minor: 500 }, PLACE);
    expect(answer.kind).toBe('succeeded');
    expect(stack.producer.told.at(-1)).toMatchObject({
      outcome: { result: { refund_id: '9007199254740993' }, externalTransactionRef: '9007199254740993' },
    });
    const later = await recourse.guard((args: { readonly at: Date; readonly n: bigint }) => args.n, {
      contract: REFUND,
    });
    // @ts-expect-error: a date is a text on its way, and a bigint too.
    const wrong = later({ at: new Date(0), n: 1n }, PLACE);
    expect(await wrong).toMatchObject({ kind: 'refused', code: 'ARGS_INVALID' });
    await recourse.close();
  });

  it('says what is missing where the place of a call is left out', async () => {
    stack.leaveFile();
    const recourse = await connect(stack.options());
    const refund = await recourse.guard(issueRefund, { contract: REFUND });
    // @ts-expect-error: a call belongs to a run and a step.
    const answer = await refund({ order: '4711', amount_minor: 500 });
    expect(answer).toMatchObject({ kind: 'refused', code: 'PLACE_INVALID' });
    await recourse.close();
  });

  it("reads the provider's handle, and hides it from the agent", async () => {
    stack.leaveFile();
    const recourse = await connect(stack.options());
    const refund = await recourse.guard(issueRefund, {
      contract: REFUND,
      externalTransactionRef: ({ refund_id }) => refund_id,
    });
    expect(await refund({ order: '4711', amount_minor: 500 }, PLACE)).toMatchObject({
      value: { paid: { minor: 500 } },
    });
    expect(stack.producer.told.at(-1)).toMatchObject({ outcome: { externalTransactionRef: 'rf_1' } });
    await recourse.close();
  });

  it('lets everything be said otherwise: the program before the environment before the stack', async () => {
    const dataDir = stack.leaveFile({ brokers: ['stack:1'] });
    const other = await TestStack.start();
    const environment = { RECOURSE_DATA_DIR: dataDir, RECOURSE_CONTRACTS_URL: other.url, RECOURSE_TENANT: 'acme' };
    const recourse = await connect(
      other.options({ environment, token: 'mine', name: 'a', mode: 'observe', roles: ['agent'] }),
    );
    expect(recourse.tenant).toBe('acme');
    expect(other.calls.map(({ authorization }) => authorization)).toEqual(['Bearer mine']);
    other.contracts.set(REFUND, { contract: TEST_CONTRACT, retired: false });
    expect(await recourse.guardOptions(REFUND)).toMatchObject({ mode: 'observe', producer: other.producer });
    const closed = await connect(other.options({ environment, tenant: 'beta' }));
    expect(closed.tenant).toBe('beta');
    other.stop();
  });

  it('takes its tenant from the token where nobody says it, and reads a token file anew at each request', async () => {
    const file = join(stack.folder, 'token');
    writeFileSync(file, `${tokenOf({ tenant: 'gamma' })}\n`);
    stack.leaveFile();
    const recourse = await connect(stack.options({ environment: { RECOURSE_TOKEN_FILE: 'token' } }));
    expect(recourse.tenant).toBe('gamma');
    writeFileSync(file, 'renewed');
    await recourse.contract(REFUND);
    expect(stack.calls.at(-1)?.authorization).toBe('Bearer renewed');
  });

  it('keeps what it has where an option of a guard is undefined: a kill switch stops that tool, too', async () => {
    stack.leaveFile();
    stack.answers.set('/v1/entries/kill_switch', [503, { code: 'BROKER_UNAVAILABLE' }]);
    const recourse = await connect(stack.options({ onTrouble: () => undefined }));
    // As a caller without exact types passes it.
    const unsaid = { entries: undefined, budget: undefined, standing: undefined, mode: undefined } as unknown as object;
    const refund = await recourse.guard(issueRefund, { contract: REFUND, ...unsaid });
    expect(await refund({ order: '4711', amount_minor: 500 }, PLACE)).toMatchObject({
      kind: 'refused',
      code: 'REGISTRY_UNAVAILABLE',
    });
    await recourse.close();
  });

  it('is over once it is closed', async () => {
    stack.leaveFile();
    const recourse = await connect(stack.options());
    await recourse.close();
    await expect(recourse.guard(issueRefund, { contract: REFUND })).rejects.toMatchObject({
      code: 'CONNECTION_CLOSED',
    });
  });
});

describe('what a connection lacks is said with a code, and what to do about it', () => {
  const lacking = (more = {}): Promise<unknown> => connect(stack.options(more));

  it('no stack, and no addresses: each variable that would say one', async () => {
    await expect(lacking()).rejects.toMatchObject({
      code: 'STACK_NOT_FOUND',
      message: expect.stringMatching(/RECOURSE_CONTRACTS_URL, RECOURSE_LEDGER_URL.*RECOURSE_KAFKA_BROKERS.*npm start/),
    });
  });

  it('a data directory that holds no stack', async () => {
    await expect(lacking({ dataDir: 'nowhere' })).rejects.toMatchObject({ code: 'STACK_FILE_UNREADABLE' });
  });

  it('an address that is none', async () => {
    stack.leaveFile();
    const environment = { RECOURSE_LEDGER_URL: 'ledger', RECOURSE_KAFKA_BROKERS: 'kafka' };
    await expect(lacking({ environment })).rejects.toMatchObject({
      code: 'ADDRESS_INVALID',
      detail: expect.stringMatching(/ledgerUrl ledger; brokers kafka/),
    });
  });

  it('a registry that is silent', async () => {
    stack.leaveFile();
    await expect(lacking({ contractsUrl: 'http://127.0.0.1:9' })).rejects.toMatchObject({
      code: 'CONTRACTS_UNREACHABLE',
    });
    stack.answers.set('/v1/contracts', [503, { code: 'NOT_READY' }]);
    await expect(lacking()).rejects.toMatchObject({ code: 'CONTRACTS_UNREACHABLE' });
  });

  it('a token: none, and one that is refused', async () => {
    stack.leaveFile();
    stack.answers.set('/token', [500, {}]);
    await expect(lacking()).rejects.toMatchObject({ code: 'TOKEN_MISSING' });
    stack.answers.set('/v1/contracts', [401, { code: 'TOKEN_REFUSED', detail: 'it has expired' }]);
    await expect(lacking({ token: 'old' })).rejects.toMatchObject({
      code: 'TOKEN_REFUSED',
      detail: expect.stringContaining('it has expired'),
    });
  });

  it('a tenant', async () => {
    stack.leaveFile();
    await expect(lacking({ token: 'no tenant in it' })).rejects.toMatchObject({ code: 'TENANT_UNKNOWN' });
  });

  it('a contract: the names there are; one that is retired; one that does not fit its digest', async () => {
    stack.leaveFile();
    const recourse = await connect(stack.options());
    await expect(recourse.guard(issueRefund, { contract: 'payments.refund' })).rejects.toMatchObject({
      code: 'CONTRACT_UNKNOWN',
      detail: expect.stringContaining(`registered are ${REFUND}`),
    });
    stack.contracts.set(REFUND, { contract: TEST_CONTRACT, retired: true });
    await expect(recourse.contract(REFUND)).rejects.toMatchObject({ code: 'CONTRACT_RETIRED' });
    stack.answers.set(`/v1/contracts/${REFUND}`, [200, { body: contractBody(TEST_CONTRACT), digest: '00' }]);
    await expect(recourse.contract(REFUND)).rejects.toMatchObject({ code: 'CONTRACT_UNREADABLE' });
  });

  it('an adapter that the stack does not know', async () => {
    stack.leaveFile();
    const recourse = await connect(stack.options());
    await expect(recourse.worker({ adapter: 'rooms', capabilities: {} })).rejects.toMatchObject({
      code: 'ADAPTER_UNKNOWN',
      message: expect.stringContaining('RECOURSE_ADAPTERS'),
    });
  });

  it('of a guarded tool: that nobody can be asked to undo it, before it acts, and no more once somebody can', async () => {
    stack.leaveFile();
    const heard: string[] = [];
    const onTrouble = ({ code, problems }: GuardTrouble): void => {
      heard.push(`${code}: ${problems.map(({ message }) => message).join()}`);
    };
    const recourse = await connect(stack.options({ onTrouble }));
    const admin = await stack.broker.forActor('operator').admin();
    await recourse.guard(issueRefund, { contract: REFUND });
    // Whoever sees no topic of requests at all may not look at them.
    expect(heard).toEqual([]);
    await admin.ensureTopics([{ name: 'recourse.tool-requests.mail', partitions: 1 }]);
    await recourse.guard(issueRefund, { contract: REFUND });
    expect(heard).toEqual([
      expect.stringMatching(/^ADAPTER_UNKNOWN: .*recourse\.tool-requests\.payments.*RECOURSE_ADAPTERS/u),
    ]);
    await admin.ensureTopics([{ name: 'recourse.tool-requests.payments', partitions: 1 }]);
    await recourse.guard(issueRefund, { contract: REFUND });
    expect(heard).toHaveLength(1);
    await recourse.close();
  });

  it.each([
    ['20.20.2', 'NODE_TOO_OLD'],
    ['22.21.9', 'NODE_TOO_OLD'],
    ['22.22.0', undefined],
    ['24.1.0', undefined],
  ])('the Node it runs on: %s', (version, code) => {
    expect(nodeProblem(version)?.code).toBe(code);
  });
});

describe('a worker from a connection', () => {
  it('is started, keeps its claims below the connection, and stops with it', async () => {
    stack.leaveFile();
    stack.broker.ensureTopics([
      { name: 'recourse.tool-requests.payments', partitions: 1 },
      { name: 'recourse.tool-results', partitions: 1 },
    ]);
    const recourse = await connect(stack.options());
    const worker = await recourse.worker({
      adapter: 'payments',
      capabilities: { 'payments.reverse_refund': () => Promise.resolve({}) },
      positions: new MemoryPositionStore(),
      registerSchemas: true,
    });
    await turns();
    expect(worker.isReady()).toBe(true);
    await recourse.close();
    expect(worker.isReady()).toBe(false);
  });
});

describe('a consumer of rollbacks over a connection', () => {
  const NOTICES = 'recourse.rollback-notifications';
  const consuming = async (more: Parameters<TestStack['options']>[0] = {}): Promise<unknown> => {
    const { logId, partitionCount } = await (await connect(stack.options(more))).consumerOptions();
    return [logId, partitionCount];
  };

  it('is told all it needs of the log, wherever the data of the stack is', async () => {
    const dataDir = stack.leaveFile({ log_id: 'log-7' });
    stack.broker.ensureTopics([{ name: NOTICES, partitions: 3 }]);
    const recourse = await connect(stack.options({ folder: '/', environment: { RECOURSE_DATA_DIR: dataDir } }));
    const { kafka, codecs, clock } = recourse;
    const reached = await recourse.consumerOptions();
    expect(reached).toEqual({ kafka, codecs, clock, logId: 'log-7', partitionCount: 3 });
    const heard: string[] = [];
    const consumer = createRollbackConsumer({
      ...reached,
      inbox: new MemoryInbox(),
      subscription: { consumer: 'reports', scope: 'demo/refund-agent', mode: 'sync' },
      registerSchemas: true,
      onRollback: ({ rollbackId }) => Promise.resolve(heard.push(rollbackId)).then(() => undefined),
    });
    await consumer.start();
    await consumer.stop();
    await recourse.close();
    await expect(recourse.consumerOptions()).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' });
  });

  it('believes the program before the environment before the stack', async () => {
    stack.leaveFile();
    stack.broker.ensureTopics([{ name: NOTICES, partitions: 1 }]);
    const environment = { RECOURSE_LOG_ID: 'of-the-environment' };
    expect(await consuming()).toEqual(['log', 1]);
    expect(await consuming({ environment })).toEqual(['of-the-environment', 1]);
    expect(await consuming({ environment, logId: 'mine' })).toEqual(['mine', 1]);
  });

  it('is told what is lacking: the id of the logs, and the topic', async () => {
    const { url } = stack;
    const addresses = { contractsUrl: url, ledgerUrl: url, recoveriesUrl: url, budgetUrl: url, registryUrl: url };
    const apart = { ...addresses, brokers: ['127.0.0.1:1'], token: 'mine', tenant: 'acme' };
    await expect(consuming(apart)).rejects.toMatchObject({ code: 'LOG_UNKNOWN' });
    await expect(consuming({ ...apart, logId: 'log' })).rejects.toMatchObject({ code: 'NOTICES_MISSING' });
  });
});
