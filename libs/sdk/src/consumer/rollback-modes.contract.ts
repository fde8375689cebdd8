// What a consumer of rollbacks does in every mode (E25): the same is heard, falls, and is answered.
import { afterEach, describe, expect } from '@jest/globals';
import { WIRE_RECORD_BYTES_MAX } from '@recourse/kernel';
import { runCases, type Cases } from '@recourse/testing';
import { MemoryInbox } from './inbox.memory.js';
import type { MemoryRows } from './inbox.memory.js';
import type { OwnRecord, RollbackHandlers } from './own-record.js';
import { RollbackStage } from './rollback-stage.testing.js';

/** A consumer in some mode. */
export interface ConsumerUnderTest {
  start(): Promise<void>;
  stop(): Promise<void>;
  transact<T>(work: (tx: MemoryRows, own: OwnRecord) => Promise<T>): Promise<T>;
}

export type MakeConsumer = (
  stage: RollbackStage,
  more: RollbackHandlers<MemoryRows> & { readonly inbox: MemoryInbox; readonly onTrouble: (cause: unknown) => void },
) => Promise<ConsumerUnderTest>;

const bothOf = (commit: string): readonly string[] => [`commit ${commit}`, `rollback ${commit} [] []`];
const REF = (commit_id: string, run_id = 'run-1') => ({ run_id, commit_id });

/** A consumer on its stage: what it heard, what went wrong, what its handlers are to fail at. */
class Hearing {
  readonly stage = new RollbackStage();
  readonly inbox = new MemoryInbox();
  readonly heard: string[] = [];
  readonly troubles: unknown[] = [];
  /** Commits whose rollback always fails. */
  readonly failing = new Set<string>();
  /** Rollbacks that fail before one does not. */
  failures = 0;
  private readonly running: ConsumerUnderTest[] = [];

  constructor(private readonly make: MakeConsumer) {}

  readonly started = async (): Promise<ConsumerUnderTest> => {
    const { inbox, heard, troubles } = this;
    const consumer = await this.make(this.stage, {
      inbox,
      onTrouble: (cause) => {
        troubles.push(cause);
      },
      onCommit: (commit, { rows }) => {
        heard.push(`commit ${commit.commitId}`);
        rows.set(commit.commitId, 'heard');
        return Promise.resolve();
      },
      onRollback: ({ commitId, derived, emissions }, { rows }) => {
        rows.set(commitId, 'undone');
        if (this.failures > 0 || this.failing.has(commitId)) {
          this.failures = Math.max(0, this.failures - 1);
          return Promise.reject(new Error('the database is full'));
        }
        const [made, out] = [derived.map(({ commit_id }) => commit_id), emissions.map(({ ref }) => ref)];
        heard.push(`rollback ${commitId} [${made.join()}] [${out.join()}]`);
        return Promise.resolve();
      },
    });
    this.running.push(consumer);
    await consumer.start();
    return consumer;
  };
  readonly until = (count: number): Promise<void> =>
    this.stage.until(`${String(count)} notices`, () => this.heard.length >= count);
  readonly stop = async (): Promise<void> => {
    await Promise.all(this.running.splice(0).map((one) => one.stop()));
  };
}

export function rollbackModesContract(mode: string, make: MakeConsumer): void {
  describe(`a consumer of rollbacks, ${mode}`, () => {
    let hearing: Hearing | null = null;
    afterEach(async () => {
      await hearing?.stop();
      await hearing?.stage.close();
    });
    runCases(CASES, () => (hearing = new Hearing(make)));
  });
}

const CASES: Cases<Hearing> = {
  'hears each commit of its scope before its rollback, once, and says so': async ({ stage, heard, started, until }) => {
    await stage.fall({ commit: 'a' });
    await stage.fall({ commit: 'foreign', tenant: 'globex' });
    await stage.fall({ commit: 'elsewhere', agent: 'agent-9' });
    await stage.fall({ commit: 'b', subject: 'order/4711' });
    await started();
    await until(4);
    expect(heard).toEqual(['commit a', 'rollback a [] []', 'commit b', 'rollback b [] []']);
    await stage.until('two acknowledgements', async () => (await stage.acks()).length === 2);
    expect(
      (await stage.acks()).map(({ consumer, tenant, mutation_id, rollback_id }) => [
        consumer,
        tenant,
        mutation_id,
        rollback_id,
      ]),
    ).toEqual([
      ['mailer', 'acme', 'a', 'rb-a'],
      ['mailer', 'acme', 'b', 'rb-b'],
    ]);
  },

  'hears commits that fell together one after the other, only those of its scope, and says so of each': async ({
    stage,
    heard,
    started,
    until,
  }) => {
    await stage.fall(
      { commit: 'c', subject: 'order/3' },
      { commit: 'foreign', agent: 'agent-9' },
      { commit: 'b', consumers: ['somebody'] },
      { commit: 'a' },
    );
    await stage.fall({ commit: 'elsewhere', agent: 'agent-9' });
    await stage.fall({ commit: 'e' }, { commit: 'd', consumers: [] });
    await started();
    await until(10);
    expect(heard).toEqual(['c', 'b', 'a', 'e', 'd'].flatMap(bothOf));
    await stage.until('three acknowledgements', async () => (await stage.acks()).length === 3);
    expect((await stage.acks()).map(({ mutation_id }) => mutation_id)).toEqual(['c', 'a', 'e']);
  },

  'that fails or ends between commits that fell together loses none of them, and keeps none twice': async ({
    stage,
    inbox,
    heard,
    troubles,
    failing,
    started,
    stop,
  }) => {
    await stage.fall({ commit: 'c' }, { commit: 'b' }, { commit: 'a' });
    await stage.fall({ commit: 'd' });
    failing.add('b');
    await started();
    await stage.until('a failure', () => troubles.length > 0);
    expect([inbox.rows.get('b'), inbox.rows.get('a')]).toEqual([undefined, undefined]);
    expect(String(troubles[0])).toMatch(
      /^RollbackHandlerFailed: on(?:Commit|Rollback) of commit b in run \S+ failed: /,
    );
    await stop();
    failing.clear();
    heard.length = 0;
    const kept = [...inbox.rows.keys()];
    await started();
    await stage.until('four acknowledgements', async () => (await stage.acks()).length === 4);
    expect(heard).toEqual(['c', 'b', 'a', 'd'].filter((one) => !kept.includes(one)).flatMap(bothOf));
    expect((await stage.acks()).map(({ mutation_id }) => mutation_id)).toEqual(['c', 'b', 'a', 'd']);
  },

  'invalidates what it made of a fallen commit, however long the way, and tells what went out': async ({
    stage,
    heard,
    started,
    until,
  }) => {
    const consumer = await started();
    await consumer.transact(async (_tx, own) => {
      await own.derive({ commit: REF('mine-1', 'own'), parents: [REF('a')] });
      await own.derive({ commit: REF('mine-2', 'own'), parents: [REF('mine-1', 'own'), REF('other')] });
      await own.derive({ commit: REF('safe', 'own'), parents: [REF('other')] });
      await own.emitted(REF('mine-2', 'own'), { kind: 'email', ref: 'm-2', emitted_at: 5 });
      await own.emitted(REF('safe', 'own'), { kind: 'email', ref: 'm-3', emitted_at: 6 });
    });
    await stage.fall({ commit: 'a' });
    await until(2);
    expect(heard.at(-1)).toBe('rollback a [mine-1,mine-2] [m-2]');
    await stage.until('an acknowledgement', async () => (await stage.acks()).length === 1);
    expect(await stage.acks()).toMatchObject([
      {
        derived: [REF('mine-1', 'own'), REF('mine-2', 'own')],
        emissions: [{ kind: 'email', ref: 'm-2', emitted_at: 5 }],
      },
    ]);
  },

  'makes nothing more of what fell, and lets nothing out on it': async ({ stage, started, until }) => {
    const consumer = await started();
    await consumer.transact((_tx, own) => own.derive({ commit: REF('mine', 'own'), parents: [REF('a')] }));
    await stage.fall({ commit: 'a' });
    await until(2);
    const answers = await consumer.transact(async (_tx, own) => [
      await own.derive({ commit: REF('late', 'own'), parents: [REF('a')] }),
      await own.derive({ commit: REF('later', 'own'), parents: [REF('mine', 'own')] }),
      await own.derive({ commit: REF('fine', 'own'), parents: [REF('b')] }),
      await own.emitted(REF('mine', 'own'), { kind: 'email', ref: null, emitted_at: 9 }),
      await own.emitted(REF('fine', 'own'), { kind: 'email', ref: null, emitted_at: 9 }),
    ]);
    expect(answers).toEqual([false, false, true, false, true]);
  },

  'names as much of its own as an acknowledgement holds': async ({ stage, started, until }) => {
    const consumer = await started();
    const long = (index: number, byte: string): string => `${String(index).padStart(4, '0')}-${byte.repeat(500)}`;
    await consumer.transact(async (_tx, own) => {
      for (let index = 0; index < 300; index += 1) {
        const commit = REF(long(index, 'm'), 'own');
        await own.derive({ commit, parents: [REF('a')] });
        await own.emitted(commit, { kind: 'email', ref: long(index, 'r'), emitted_at: 5 });
      }
    });
    await stage.fall({ commit: 'a' });
    await until(2);
    await stage.until('an acknowledgement', async () => (await stage.acks()).length === 1);
    for (const { derived, emissions } of await stage.acks())
      for (const { length } of [derived, emissions]) expect([length > 200, length < 300]).toEqual([true, true]);
    expect(Math.max(...(await stage.ackBytes()))).toBeLessThanOrEqual(WIRE_RECORD_BYTES_MAX);
  },

  'refuses to keep what no acknowledgement could name, and keeps nothing of it': async ({ started }) => {
    const consumer = await started();
    const email = { kind: 'email', ref: null, emitted_at: 5 };
    const commit = REF('mine', 'own');
    const told: readonly [string, (own: OwnRecord) => Promise<boolean>][] = [
      ['RECORD_UNFIT', (own) => own.derive({ commit: REF('', 'own'), parents: [] })],
      ['RECORD_UNFIT', (own) => own.derive({ commit, parents: [REF('x'.repeat(513))] })],
      ['RECORD_UNFIT', (own) => own.derive({ commit: REF('mine', 'o\u0000'), parents: [] })],
      ['RECORD_UNFIT', (own) => own.emitted(commit, { ...email, kind: '' })],
      ['RECORD_UNFIT', (own) => own.emitted(commit, { ...email, ref: 'x'.repeat(513) })],
      ['INSTANT_INVALID', (own) => own.emitted(commit, { ...email, emitted_at: 1_700_000_000 })],
      ['INSTANT_INVALID', (own) => own.emitted(commit, { ...email, emitted_at: 1.5 })],
    ];
    for (const [code, tell] of told)
      await expect(
        consumer.transact(async ({ rows }, own) => {
          rows.set('mine', 'made');
          return tell(own);
        }),
      ).rejects.toMatchObject({ code });
  },

  'tries again what failed, and kept nothing of it': async (hearing) => {
    const { stage, inbox, heard, troubles, started } = hearing;
    hearing.failures = 2;
    await stage.fall({ commit: 'a' });
    const consumer = await started();
    await stage.until('a failure', () => troubles.length > 0);
    expect(inbox.rows.get('a')).not.toBe('undone');
    await stage.until('the rollback', () => heard.includes('rollback a [] []'));
    expect(inbox.rows.get('a')).toBe('undone');
    await stage.until('an acknowledgement', async () => (await stage.acks()).length === 1);
    expect(consumer).toBeDefined();
  },

  'goes on where it was, after a day away too, and hears nothing twice': async ({
    stage,
    heard,
    started,
    until,
    stop,
  }) => {
    await stage.fall({ commit: 'a' });
    await started();
    await until(2);
    await stop();
    await stage.clock.advance(86_400_000);
    for (const commit of ['b', 'c', 'd']) await stage.fall({ commit });
    await started();
    await until(8);
    await stage.until('four acknowledgements', async () => (await stage.acks()).length === 4);
    expect(heard.filter((notice) => notice.startsWith('rollback'))).toEqual([
      'rollback a [] []',
      'rollback b [] []',
      'rollback c [] []',
      'rollback d [] []',
    ]);
    expect(new Set((await stage.acks()).map(({ event_id }) => event_id)).size).toBe(4);
  },

  'answers only where it is waited for': async ({ stage, started, until }) => {
    await stage.fall({ commit: 'a', consumers: ['somebody'] });
    await stage.fall({ commit: 'b' });
    await started();
    await until(4);
    await stage.until('an acknowledgement', async () => (await stage.acks()).length > 0);
    expect((await stage.acks()).map(({ mutation_id }) => mutation_id)).toEqual(['b']);
  },
};
