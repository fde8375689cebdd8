// An erasure, end to end on real parts: what was told of a subject can be read nowhere any more, in no answer, dump, packet, story
// or eval; every hash stays, and an audit finds nothing. What was told of others is untouched.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TOPICS } from '@recourse/messages';
import { cli, put } from './guide.testing.js';
import type { Ran } from './guide.testing.js';
import { rehearse } from './rehearsal.testing.js';
import type { Rehearsal } from './rehearsal.testing.js';
import { ADMINISTRATOR, itemsOf, PARTITIONS, until } from './system.testing.js';
import type { Facts, Person } from './system.testing.js';

const SECRET = 'the-customer-said-so-9b3e';
const OTHER = 'somebody-else-said-so-9b3e';
const ERASED = 'erased-order';
const KEPT = 'kept-order';
const AUDITOR: Person = { subject: 'vera', roles: ['auditor', 'administrator'], tenant: '*' };
const LOGS = TOPICS.filter(({ kind }) => (kind as string) === 'log').map(({ name }) => name);

let rehearsal: Rehearsal;
let mutation = '';
let kept = '';
const before: { hashes: readonly unknown[]; opened: string; heads: string } = { hashes: [], opened: '', heads: '' };
const asked = (...args: readonly string[]): Promise<Ran> => cli(rehearsal.system, AUDITOR, rehearsal.folder, ...args);

beforeAll(async () => {
  rehearsal = await rehearse();
  mutation = await rehearsal.refund('run-erased', ERASED, { reason: SECRET });
  await rehearsal.agree(await rehearsal.contradict('run-erased', ERASED));
  kept = await rehearsal.refund('run-kept', KEPT, { reason: OTHER });
  put(rehearsal.folder, 'suite.yaml', suiteOf(SECRET));
  before.opened = (await asked('audit', 'story', mutation, '--open', '--packet', 'before.json')).out;
  before.heads = (await asked('audit', 'verify', '--json')).out;
  put(rehearsal.folder, 'heads.json', before.heads);
  before.hashes = await stateHashes();
  expect((await asked('eval', 'suite.yaml')).code).toBe(0);
  const { status } = await rehearsal.system.post(
    'ledger',
    '/v1/erasures',
    { subject: ERASED, reason: 'asked to be forgotten' },
    { person: { ...ADMINISTRATOR, tenant: 'acme' } },
  );
  expect(status).toBe(200);
  // A process forgets an opened key within a minute.
  await until('the key to be forgotten', async () => ((await shown(mutation)).includes(SECRET) ? null : true), 90_000);
}, 600_000);
afterAll(async () => {
  await rehearsal.stop();
}, 60_000);

const suiteOf = (reason: string): string =>
  `id: refund\ninput: refund it\nrun: run-erased\ntrajectory:\n  mode: strict\n  steps: [{ tool: payments.issue_refund, args_subset: { reason: ${reason} } }]\n`;
const shown = async (id: string): Promise<string> =>
  JSON.stringify((await rehearsal.system.get('ledger', `/v1/mutations/${id}`)).body);

/** State hashes of every partition of every log, as their services fold them. */
async function stateHashes(): Promise<readonly unknown[]> {
  const side = {
    contracts: 'registry',
    assumptions: 'ledger',
    mutations: 'ledger',
    recoveries: 'orchestrator',
    budgets: 'budget',
  } as const;
  const asks = LOGS.flatMap((log) => Array.from({ length: PARTITIONS }, (_, partition) => ({ log, partition })));
  const hashes: unknown[] = [];
  for (const { log, partition } of asks) {
    const of = side[log.split('.')[1] as keyof typeof side];
    const { status, body } = await rehearsal.system.get(
      of,
      `/v1/state-hash?log=${log}&partition=${String(partition)}`,
      AUDITOR,
    );
    if (status === 200) hashes.push([log, partition, body['state_hash']]);
  }
  return hashes;
}

describe('an erasure', () => {
  it('was of something that could be read before', () => {
    expect(before.opened).toContain(SECRET);
  });

  it('leaves nothing to read of the subject, and everything of the others', async () => {
    expect(await shown(mutation)).not.toContain(SECRET);
    expect(await shown(kept)).toContain(OTHER);
    const steps = itemsOf(await rehearsal.system.get('orchestrator', '/v1/steps?run_id=run-erased'));
    expect(JSON.stringify(steps)).not.toContain(SECRET);
  });

  it('leaves every chain as it was: the audit finds nothing, and every older head is where it was', async () => {
    const { code, out } = await asked('audit', 'verify', '--against', 'heads.json', '--json');
    expect([code, (JSON.parse(out) as Facts)['ok']]).toEqual([0, true]);
  });

  it('leaves state hashes as they were', async () => {
    expect(before.hashes.length).toBeGreaterThan(4);
    expect(await stateHashes()).toEqual(before.hashes);
  });

  it('is nothing a dump gives back, and the same story is told of its records, with payloads by their hash', async () => {
    expect((await asked('audit', 'dump', 'dump')).code).toBe(0);
    const folder = join(rehearsal.folder, 'dump');
    const bytes = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'latin1'));
    const values = bytes.flatMap((text) =>
      [...text.matchAll(/"value":"([^"]*)"/g)].map(([, value = '']) => Buffer.from(value, 'base64').toString('latin1')),
    );
    expect([...bytes, ...values].filter((text) => text.includes(SECRET))).toEqual([]);
    const story = await asked('audit', 'story', mutation, '--open');
    expect([story.code, story.out.includes(SECRET), story.out.includes('(sealed, sha256 ')]).toEqual([0, false, true]);
    expect((await asked('audit', 'story', kept, '--open')).out).toContain(OTHER);
    expect((await asked('audit', 'verify', '--dump', 'dump')).code).toBe(0);
  });

  it('is nothing a packet holds that was made before, and the packet proves the same', async () => {
    expect(readFileSync(join(rehearsal.folder, 'before.json'), 'utf8')).not.toContain(SECRET);
    expect((await asked('audit', 'check-story', 'before.json', '--dump', 'dump')).code).toBe(0);
  });

  it('fails an eval that asks about what is gone, and says that it cannot be read', async () => {
    const { code, out } = await asked('eval', 'suite.yaml');
    expect([code, out]).toEqual([1, expect.stringContaining('unreadable:payments.issue_refund')]);
  });
});
