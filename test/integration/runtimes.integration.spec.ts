// Several runtimes on one lineage, on real parts: one takes a fall over what it made itself, one goes on as if nothing had been said;
// comparing what they hold with what fell lists the second, what of it is contaminated, and when it reached users (E43, E44, E45).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { schemaIdOf } from '@recourse/chain';
import { createDatabase, dropDatabase } from '@recourse/dev-stack';
import { createKafka } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import type { CommitRef, RuntimeCommit } from '@recourse/messages';
import {
  announcedIn,
  createCheckpoints,
  createNotificationConsumer,
  createRollbackConsumer,
  MemoryInbox,
  MemoryPositionStore,
  PostgresInbox,
  systemClock,
} from '@recourse/sdk';
import type { Checkpoints, RollbackConsumer, SqlClient } from '@recourse/sdk';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Pool } from 'pg';
import { itemsOf, OPERATOR, PARTITIONS, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const REF = 'warehouse/east#stocked';
const SCOPE = `${TENANT}/agent-planner`;
let system: System;
let kafka: Kafka;
let folder: string;
const stops: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  system = await startSystem({
    envOf: {
      'mutation-ledger': { RECOURSE_SOURCE_TRUST: 'off', RECOURSE_ACK_ASYNC_MS: '2000' },
    },
  });
  kafka = createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'runtimes' });
  folder = mkdtempSync(join(tmpdir(), 'recourse-runtimes-'));
  stops.push(() => {
    rmSync(folder, { recursive: true, force: true });
    return Promise.resolve();
  });
}, 400_000);
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
  await system.stop();
}, 60_000);

async function subscribe(consumer: string): Promise<void> {
  const entry = {
    owner: 'platform',
    doc: 'Hears of rollbacks.',
    consumer,
    scope: SCOPE,
    mode: 'async',
    commit_to_user_ms: 5_000,
  };
  const { status, body } = await system.post(
    'registry',
    '/v1/entries/subscription',
    { name: consumer, entry },
    { person: OPERATOR, key: consumer },
  );
  if (status !== 201) throw new Error(`${consumer}: ${JSON.stringify(body)}`);
}

/** Checkpoints of a run of an agent's own, told to the ledger. */
function checkpointsOf(agentId: string, partition: number): Checkpoints {
  return createCheckpoints({
    producer: system.producer,
    clock: systemClock,
    run: {
      tenant: TENANT,
      runId: runOn(partition, agentId),
      agentId,
      initiator: null,
      objective: 'settle the complaint',
    },
  });
}

/** Records a step, and waits until the ledger has it. */
async function recorded(
  checkpoints: Checkpoints,
  stepId: string,
  more: { readonly parents?: readonly CommitRef[]; readonly assumptionRefs?: readonly string[] } = {},
): Promise<CommitRef> {
  const answer = await checkpoints.record({ stepId, producedBy: `call-${stepId}`, ...more });
  if (!answer.admitted || checkpoints.last === null) throw new Error(JSON.stringify(answer));
  await until(`the checkpoint ${stepId}`, async () =>
    (await standingOf(answer.commitId)) === undefined ? null : true,
  );
  return checkpoints.last;
}

const standingOf = async (id: string): Promise<unknown> =>
  (await system.get('ledger', `/v1/commits/${id}`)).body['standing'];
const fell = ({ commit_id: id }: CommitRef): Promise<true> =>
  until(`the fall of ${id}`, async () => ((await standingOf(id)) === 'rolled_back' ? true : null), 60_000);
const deliveryTo = (consumer: string, { commit_id: id }: CommitRef, phase: string): Promise<Facts> =>
  until(
    `${consumer} ${phase}`,
    async () =>
      itemsOf(await system.get('ledger', `/v1/deliveries?consumer=${consumer}&mutation_id=${id}&phase=${phase}`))[0] ??
      null,
    60_000,
  );

/** The command line as a process. */
async function recourse(...args: readonly string[]): Promise<ChildProcess> {
  const env = Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !name.startsWith('RECOURSE_') && name !== 'NODE_OPTIONS' && name !== 'INIT_CWD',
    ),
  );
  const at = ['--ledger-url', system.plan.urls.ledger, '--token-file', 'token', '--tenant', TENANT];
  writeFileSync(join(folder, 'token'), await system.token(OPERATOR));
  return spawn(process.execPath, [join(process.cwd(), 'apps', 'cli', 'bin', 'recourse.mjs'), ...at, ...args], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly note: string;
}

async function ended(...args: readonly string[]): Promise<Ended> {
  const child = await recourse(...args);
  const [out, note] = [textOf(child.stdout), textOf(child.stderr)];
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
  });
  return { code, out: out(), note: note() };
}

function textOf(stream: NodeJS.ReadableStream | null): () => string {
  const parts: string[] = [];
  stream?.on('data', (part: Buffer) => {
    parts.push(part.toString());
  });
  return () => parts.join('');
}

/** Says what a runtime holds; whoever reads the file while it is written reads the one before. */
function hold(runtime: string, commits: readonly RuntimeCommit[]): string {
  const [file, draft] = [join(folder, `${runtime}.json`), join(folder, `${runtime}.draft`)];
  writeFileSync(draft, JSON.stringify({ commits }));
  renameSync(draft, file);
  return file;
}

/** Comparisons of a runtime, from the log itself, in order. */
async function reconciledInLog(runtime: string): Promise<readonly Facts[]> {
  const reader = await kafka.rawReader();
  const found: Facts[] = [];
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const { high } = await reader.range('recourse.mutations', partition);
    for (let at = 0; at < high;) {
      const { records } = await reader.read('recourse.mutations', partition, at);
      if (records.length === 0) break;
      for (const { value } of records) {
        await system.codecs.load(schemaIdOf(value) ?? -1);
        const decoded = system.codecs.decodeSync(value);
        const body =
          decoded.kind === 'decoded' && decoded.type === 'LineageReconciled' ? (decoded.body as Facts) : null;
        if (body?.['runtime'] === runtime) found.push(body);
      }
      at += records.length;
    }
  }
  await reader.close();
  return found;
}

/** A runtime that takes rollbacks over what it made itself, in its own database. */
class Obedient {
  readonly commits = checkpointsOf('agent-packer', 1);
  private constructor(
    private readonly pool: Pool,
    readonly consumer: RollbackConsumer<SqlClient>,
    readonly trouble: readonly unknown[],
  ) {}

  static async start(name: string): Promise<Obedient> {
    const database = `runtime_${String(process.pid)}`;
    const { url } = await createDatabase(system.stack, database, database, 'packing');
    const pool = new Pool({ connectionString: url, max: 4 });
    await pool.query('CREATE TABLE parcel (id text PRIMARY KEY, state text NOT NULL)');
    const trouble: unknown[] = [];
    const onTrouble = (cause: unknown): void => {
      trouble.push(cause);
    };
    const inbox = new PostgresInbox<SqlClient>(pool, name, onTrouble);
    await inbox.prepare();
    const consumer = createRollbackConsumer<SqlClient>({
      kafka,
      codecs: system.codecs,
      logId: system.plan.logId,
      partitionCount: PARTITIONS,
      clock: systemClock,
      subscription: { consumer: name, scope: SCOPE, mode: 'async' },
      inbox,
      pollMs: 20,
      onTrouble,
      onRollback: async ({ derived }, tx) => {
        await tx.query("UPDATE parcel SET state = 'unpacked' WHERE id = ANY($1)", [
          derived.map(({ commit_id: id }) => id),
        ]);
      },
    });
    await consumer.start();
    stops.push(async () => {
      await consumer.stop();
      await pool.end();
      await dropDatabase(system.stack, database);
    });
    return new Obedient(pool, consumer, trouble);
  }

  /** Makes a parcel from commits; false where one of them fell. */
  pack(commit: CommitRef, parents: readonly CommitRef[], emittedAt: number): Promise<boolean> {
    return this.consumer.transact(async (tx, own) => {
      if (
        !(await own.derive({ commit, parents })) ||
        !(await own.emitted(commit, { kind: 'label', ref: commit.commit_id, emitted_at: emittedAt }))
      )
        return false;
      await tx.query("INSERT INTO parcel VALUES ($1, 'packed')", [commit.commit_id]);
      return true;
    });
  }

  /** Ends every connection to its database, as a restart of PostgreSQL does. */
  async endConnections(): Promise<void> {
    const { host, port, user, password } = system.stack.postgres;
    const client = new Client({ host, port, user, password, database: 'postgres' });
    await client.connect();
    await client.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [
      `runtime_${String(process.pid)}`,
    ]);
    await client.end();
  }

  async parcels(): Promise<readonly unknown[]> {
    return (await this.pool.query('SELECT state FROM parcel ORDER BY id')).rows.map((row) => (row as Facts)['state']);
  }
}

/** A runtime that reads what is announced and does nothing about it. */
class Ignoring {
  readonly commits = checkpointsOf('agent-mailer', 0);
  readonly heard: string[] = [];
  readonly held: RuntimeCommit[] = [];

  async start(): Promise<void> {
    const notices = createNotificationConsumer({
      kafka,
      codecs: system.codecs,
      logId: system.plan.logId,
      partitionCount: PARTITIONS,
      clock: systemClock,
      positions: new MemoryPositionStore(),
      pollMs: 20,
      onNotification: ({ type, body }) => {
        if (type === 'RollbackAnnounced')
          this.heard.push(...announcedIn(body).map(({ mutation_id }) => `${type} ${mutation_id}`));
        return Promise.resolve();
      },
    });
    await notices.start();
    stops.push(() => notices.stop());
  }

  /** Sends a mail that was made from commits. */
  mail(commit: CommitRef, derivedFrom: readonly CommitRef[], at: number): void {
    this.held.push({ ...commit, derived_from: derivedFrom, stands: true, reached_user_at: at });
  }

  /** Begins to listen: tells its consumer what it made, and gives up what that says fell. */
  async listen(name: string): Promise<void> {
    const gone = new Set<string>();
    const consumer = createRollbackConsumer({
      kafka,
      codecs: system.codecs,
      logId: system.plan.logId,
      partitionCount: PARTITIONS,
      clock: systemClock,
      subscription: { consumer: name, scope: SCOPE, mode: 'async' },
      inbox: new MemoryInbox(),
      pollMs: 20,
      onRollback: ({ derived }) => {
        for (const { commit_id: id } of derived) gone.add(id);
        return Promise.resolve();
      },
    });
    await consumer.transact(async (_tx, own) => {
      for (const { run_id, commit_id, derived_from, reached_user_at } of this.held) {
        await own.derive({ commit: { run_id, commit_id }, parents: derived_from });
        if (reached_user_at !== null)
          await own.emitted({ run_id, commit_id }, { kind: 'email', ref: commit_id, emitted_at: reached_user_at });
      }
    });
    await consumer.start();
    stops.push(() => consumer.stop());
    await until('what it gives up', () => Promise.resolve(gone.size > 0 ? true : null));
    this.held.splice(0, this.held.length, ...this.held.map((one) => ({ ...one, stands: !gone.has(one.commit_id) })));
  }
}

describe('several runtimes on one lineage', () => {
  let plan: CommitRef;
  let obedient: Obedient;
  let ignoring: Ignoring;
  let mails: readonly CommitRef[] = [];

  it('hear of a fall: one invalidates what it made of it and says what and when, the other goes on', async () => {
    for (const consumer of ['packing', 'mailing']) await subscribe(consumer);
    [obedient, ignoring] = [await Obedient.start('packing'), new Ignoring()];
    await ignoring.start();
    plan = await recorded(checkpointsOf('agent-planner', 0), 'plan', { assumptionRefs: [REF] });
    const parcel = await recorded(obedient.commits, 'parcel', { parents: [plan] });
    const label = { run_id: 'packing', commit_id: 'label-1' };
    const packedAt = Date.now();
    expect([await obedient.pack(parcel, [plan], packedAt), await obedient.pack(label, [parcel], packedAt + 1)]).toEqual(
      [true, true],
    );
    const apart = await recorded(checkpointsOf('agent-mailer', 1), 'greeting');
    const first = await recorded(ignoring.commits, 'mail', { parents: [plan] });
    ignoring.mail(apart, [], packedAt);
    ignoring.mail(first, [plan], packedAt);

    await system.producer.assumptionInvalidated({
      tenant: TENANT,
      ref: REF,
      sourceKind: 'observation',
      statement: { pens: 0 },
      statedAt: Date.now(),
    });
    expect(await deliveryTo('packing', plan, 'acknowledged')).toMatchObject({
      answer: {
        derived: [parcel, label],
        emissions: [
          { kind: 'label', ref: parcel.commit_id, emitted_at: packedAt },
          { kind: 'label', ref: 'label-1', emitted_at: packedAt + 1 },
        ],
        late_emissions: 0,
      },
    });
    expect([
      await obedient.parcels(),
      await obedient.pack({ run_id: 'packing', commit_id: 'label-2' }, [parcel], Date.now()),
    ]).toEqual([['unpacked', 'unpacked'], false]);

    await until('the rollback heard', () =>
      Promise.resolve(ignoring.heard.includes(`RollbackAnnounced ${plan.commit_id}`) ? true : null),
    );
    const second = await recorded(ignoring.commits, 'reminder');
    const third = { run_id: 'mailing', commit_id: 'newsletter' };
    ignoring.mail(second, [first], Date.now());
    ignoring.mail(third, [second], Date.now() + 1);
    mails = [first, second, third];
    for (const one of [parcel, first, second]) await fell(one);
    expect(await standingOf(apart.commit_id)).toBe('stands');
    expect(await deliveryTo('mailing', plan, 'overdue')).toMatchObject({ owner: 'role:administrator', answer: null });
  }, 200_000);

  it('are compared by hand: the one that goes on diverges, in what and when it reached users; the other does not', async () => {
    hold('mailing', ignoring.held);
    hold('packing', [
      { run_id: 'packing', commit_id: 'label-1', derived_from: [plan], stands: false, reached_user_at: 1 },
    ]);
    const text = await ended('lineage', 'reconcile', '--runtime', 'mailing', '--file', 'mailing.json');
    expect(text).toMatchObject({
      code: 1,
      note: '',
      out: expect.stringMatching(/\nmailing diverges in 3 of 4 commits\n$/) as unknown,
    });
    const lines = text.out.split('\n').slice(1, 4);
    expect(lines.map((line) => line.split(/\s+/)[0])).toEqual([
      mails[2]?.commit_id,
      mails[1]?.commit_id,
      mails[0]?.commit_id,
    ]);
    expect(lines[0]).toContain(
      new Date(ignoring.held.at(-1)?.reached_user_at ?? 0).toISOString().slice(0, 19).replace('T', ' '),
    );
    const json = await ended('lineage', 'reconcile', '--runtime', 'mailing', '--file', 'mailing.json', '--json');
    const told = JSON.parse(json.out) as {
      readonly runtime: string;
      readonly compared: number;
      readonly contaminated: readonly Facts[];
      readonly reconciliation_ids: readonly string[];
    };
    expect([json.code, told.runtime, told.compared]).toEqual([1, 'mailing', 4]);
    const reached = ignoring.held.slice(1).map(({ reached_user_at: at }) => at);
    expect(new Map(told.contaminated.map((one) => [one['commit_id'], [one['cause'], one['reached_user_at']]]))).toEqual(
      new Map([
        [mails[0]?.commit_id, ['fallen', reached[0]]],
        [mails[1]?.commit_id, ['fallen', reached[1]]],
        ['newsletter', ['derived', reached[2]]],
      ]),
    );
    const inLog = await reconciledInLog('mailing');
    expect(
      inLog
        .map(({ reconciliation_id: id, contaminated, by }) => [id, (contaminated as readonly unknown[]).length, by])
        .at(-1),
    ).toEqual([told.reconciliation_ids[0], 3, OPERATOR.subject]);
    expect(await ended('lineage', 'reconcile', '--runtime', 'packing', '--file', 'packing.json')).toEqual({
      code: 0,
      note: '',
      out: 'packing does not diverge: 1 commit compared\n',
    });
  }, 200_000);

  it('are compared again and again: the one that went on is listed until it has answered', async () => {
    const scheduled = await recourse(
      'lineage',
      'reconcile',
      '--runtime',
      'mailing',
      '--file',
      'mailing.json',
      '--every',
      '1s',
    );
    stops.push(() => {
      scheduled.kill('SIGKILL');
      return Promise.resolve();
    });
    const [out, note] = [textOf(scheduled.stdout), textOf(scheduled.stderr)];
    const said = (line: string, times: number): Promise<true> =>
      until(line, () => Promise.resolve(out().split(line).length > times ? true : null), 60_000);
    await said('mailing diverges in 3 of 4 commits', 2);
    await ignoring.listen('mailing');
    expect(await deliveryTo('mailing', plan, 'acknowledged')).toMatchObject({
      answer: {
        is_late: true,
        derived: mails,
        emissions: ignoring.held
          .slice(1)
          .map(({ commit_id: ref, reached_user_at }) => ({ kind: 'email', ref, emitted_at: reached_user_at })),
      },
    });
    hold('mailing', ignoring.held);
    await said('mailing does not diverge: 4 commits compared', 1);
    expect([scheduled.exitCode, note()]).toEqual([null, '']);
    const over = new Promise<unknown>((resolve) => {
      scheduled.once('exit', (_code, signal) => {
        resolve(signal);
      });
    });
    scheduled.kill('SIGTERM');
    expect(await over).toBe('SIGTERM');
    const inLog = await reconciledInLog('mailing');
    expect(inLog.length).toBeGreaterThanOrEqual(5);
    expect(inLog.map(({ contaminated }) => (contaminated as readonly unknown[]).length).at(-1)).toBe(0);
    const listed = await ended('lineage', 'reconciliations', '--runtime', 'mailing', '--diverging', '--json');
    expect(
      (JSON.parse(listed.out) as { readonly items: readonly Facts[] }).items.every(({ diverges }) => diverges === true),
    ).toBe(true);
  }, 200_000);

  it('hear on when the connections to their database end, and say so', async () => {
    const again = await recorded(checkpointsOf('agent-planner', 1), 'plan again', {
      assumptionRefs: ['warehouse/west#stocked'],
    });
    const label = { run_id: 'packing', commit_id: 'label-3' };
    expect(await obedient.pack(label, [again], Date.now())).toBe(true);
    const before = obedient.trouble.length;
    await obedient.endConnections();
    await system.producer.assumptionInvalidated({
      tenant: TENANT,
      ref: 'warehouse/west#stocked',
      sourceKind: 'observation',
      statement: { pens: 0 },
      statedAt: Date.now(),
    });
    expect(await deliveryTo('packing', again, 'acknowledged')).toMatchObject({ answer: { derived: [label] } });
    expect(obedient.trouble.length).toBeGreaterThan(before);
    expect(await obedient.parcels()).toEqual(['unpacked', 'unpacked', 'unpacked']);
  }, 120_000);
});
