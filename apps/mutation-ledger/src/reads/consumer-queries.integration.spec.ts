// Polls on a real PostgreSQL: every page of a set whose marks grow in digits, over two partitions.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createDatabase, dropDatabase, sharedTestStack } from '@recourse/dev-stack';
import type { DatabaseAddress, TestStack } from '@recourse/dev-stack';
import { withCommonKinds } from '@recourse/event-log';
import type { Change } from '@recourse/event-log';
import { createPool, PostgresDatabase } from '@recourse/service';
import { mutationsCore } from '../core.js';
import { EVIDENCE } from '../core/ledger.testing.js';
import type { RollbackDoc } from '../rules/rollback/rollback.messages.js';
import { ConsumerQueries } from './consumer-queries.js';
import type { PollCursor } from './consumer-queries.js';
import { MUTATIONS_LOG } from './mutation-statements.js';

const NAME = `consumer_queries_${String(process.pid)}`;
/** Marks of one digit to four: as texts they come in another order than as numbers. */
const SEQS = [2, 9, 10, 11, 99, 100, 101, 998, 1_000, 1_001];
const PARTITIONS = 2;
/** Members of each mark: a page may end between two of them. */
const MEMBERS = [0, 1, 2];

let stack: TestStack;
let address: DatabaseAddress;
let database: PostgresDatabase;
let queries: ConsumerQueries;

function nameOf(partition: number, seq: number, member: number): string {
  return `cp_${String(partition)}_${String(seq)}_${String(member)}`;
}

function mark(partition: number, seq: number, member: number): Change {
  const run_id = `run-${String(partition)}`;
  const doc: RollbackDoc = {
    tenant: 'acme',
    agent_id: 'agent-1',
    run_id,
    mutation_id: nameOf(partition, seq, member),
    rollback_id: 'rb',
    phase: 'marked',
    evidence: EVIDENCE,
    command_id: null,
    held: null,
    confirmed_by: null,
    judged: null,
    bound_at: null,
    beyond: null,
    reviewed: null,
    policy: null,
    owner: 'ledger',
    deadline_at: null,
    opened_at: 1,
    updated_at: 1,
    mark: { seq, member, at: 1, triggered_at: 1, has_effect: false, subject_ref: null, consumers: [] },
  };
  return { op: 'put', row: { kind: 'rollback', group: run_id, key: doc.mutation_id, dueAt: null, doc } };
}

beforeAll(async () => {
  stack = await sharedTestStack();
  address = await createDatabase(stack, NAME, NAME, 'secret');
  database = await PostgresDatabase.open({ url: address.url }, [
    { log: MUTATIONS_LOG, kinds: withCommonKinds(mutationsCore().kinds) },
  ]);
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const head = {
      seq: 2_000,
      hash: Buffer.alloc(32, 1),
      offset: 2_000,
      decidedAt: 1,
      reactedSeq: 0,
      reactedOffset: 0,
      cursors: [],
    };
    await database.partition(MUTATIONS_LOG, partition).project(
      null,
      head,
      SEQS.flatMap((seq) => MEMBERS.map((member) => mark(partition, seq, member))),
    );
  }
  queries = new ConsumerQueries(createPool({ url: address.url, connectionsMax: 1 }));
}, 400_000);
afterAll(async () => {
  await queries.onApplicationShutdown();
  await database.close();
  await dropDatabase(stack, NAME);
  await stack.stop();
}, 60_000);

describe('a poll', () => {
  it.each([1, 2, 3, 7, 100])('of pages of %i gives every mark once, in order', async (limit) => {
    const found: string[] = [];
    let after: PollCursor = [];
    for (let more = true; more;) {
      const page = await queries.rolledBack({ scope: ['acme'], tenant: 'acme', after, limit });
      found.push(...page.items.map(({ commit_id }) => commit_id));
      ({ cursor: after, more } = page);
    }
    const all = [0, 1].flatMap((partition) =>
      SEQS.flatMap((seq) => MEMBERS.map((member) => nameOf(partition, seq, member))),
    );
    expect(found).toEqual(all);
  });
});
