// An erasure, end to end on real parts: what was told of a subject can be read nowhere any more, in no answer, dump, packet, story
// or eval; every hash stays, and an audit finds nothing. What was told of others is untouched. Who ordered it is on record.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

const READER: Person = { subject: 'vera', roles: ['payload_reader', 'auditor'], tenant: 'acme' };

let rehearsal: Rehearsal;
let mutation = '';
let kept = '';
interface State {
  readonly name: string;
  readonly seq: number;
  readonly hash: string;
}
const before: { states: readonly State[]; opened: string; heads: string } = { states: [], opened: '', heads: '' };
const asked = (...args: readonly string[]): Promise<Ran> => cli(rehearsal.system, READER, rehearsal.folder, ...args);

beforeAll(async () => {
  rehearsal = await rehearse();
  mutation = await rehearsal.refund('run-erased', ERASED, { reason: SECRET });
  await rehearsal.agree(await rehearsal.contradict('run-erased', ERASED));
  kept = await rehearsal.refund('run-kept', KEPT, { reason: OTHER });
  put(rehearsal.folder, 'suite.yaml', suiteOf(SECRET));
  before.opened = (await asked('audit', 'story', mutation, '--open', '--packet', 'before.json')).out;
  before.heads = (await asked('audit', 'verify', '--json')).out;
  put(rehearsal.folder, 'heads.json', before.heads);
  before.states = await states();
  expect((await asked('eval', 'suite.yaml')).code).toBe(0);
  const { status } = await rehearsal.system.post(
    'ledger',
    '/v1/erasures',
    { subject: ERASED, reason: 'asked to be forgotten' },
    { person: { ...ADMINISTRATOR, tenant: 'acme' } },
  );
  expect(status).toBe(200);
  // A process believes in a key for a while.
  const everywhere = async (): Promise<string> => `${await shown(mutation)}${await stepsShown()}`;
  await until('the key to be forgotten', async () => ((await everywhere()).includes(SECRET) ? null : true), 90_000);
}, 600_000);
afterAll(async () => {
  await rehearsal.stop();
}, 60_000);

const suiteOf = (reason: string): string =>
  `id: refund\ninput: refund it\nrun: run-erased\ntrajectory:\n  mode: strict\n  steps: [{ tool: payments.issue_refund, args_subset: { reason: ${reason} } }]\n`;
const shown = async (id: string): Promise<string> =>
  JSON.stringify((await rehearsal.system.get('ledger', `/v1/mutations/${id}`)).body);

const stepsShown = async (): Promise<string> =>
  JSON.stringify(itemsOf(await rehearsal.system.get('orchestrator', '/v1/steps?run_id=run-erased')));

/** State of each partition of the ledger and the orchestrator, by the record it stands at. */
async function states(): Promise<readonly State[]> {
  const found: State[] = [];
  for (const [log, side] of [
    ['recourse.mutations', 'ledger'],
    ['recourse.recoveries', 'orchestrator'],
  ] as const)
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      const path = `/v1/state-hash?log=${log}&partition=${String(partition)}`;
      const { body } = await rehearsal.system.get(side, path, AUDITOR);
      found.push({ name: `${log}/${String(partition)}`, seq: Number(body['seq']), hash: String(body['state_hash']) });
    }
  return found.filter(({ seq }) => seq > 0);
}

describe('an erasure', () => {
  it('was of something that could be read before', () => {
    expect(before.opened).toContain(SECRET);
  });

  it('leaves nothing to read of the subject, and everything of the others', async () => {
    expect(await shown(mutation)).not.toContain(SECRET);
    expect(await shown(kept)).toContain(OTHER);
    expect(await stepsShown()).not.toContain(SECRET);
  });

  it('leaves every chain as it was: the audit finds nothing, and every older head is where it was', async () => {
    const { code, out } = await asked('audit', 'verify', '--against', 'heads.json', '--json');
    expect([code, (JSON.parse(out) as Facts)['ok']]).toEqual([0, true]);
  });

  it('leaves states as they were: a replay without the key comes to the same hash at the same record', async () => {
    expect(before.states.length).toBeGreaterThan(2);
    for (const { name, seq, hash } of before.states) {
      const { out } = await asked('replay', name, '--until', String(seq), '--json');
      const { partitions } = JSON.parse(out) as { readonly partitions: readonly Facts[] };
      expect(partitions.map((one) => [one['seq'], one['state_hash']])).toEqual([[seq, hash]]);
    }
  });

  it('is on record itself, in the story of what was erased alone, and does not name whose data it was', async () => {
    const ordered = async (id: string): Promise<readonly Facts[]> => {
      const { out } = await asked('audit', 'story', id, '--json');
      const { lines } = JSON.parse(out) as { readonly lines: readonly Facts[] };
      return lines.filter(({ type }) => type === 'ErasureOrdered');
    };
    expect(await ordered(mutation)).toMatchObject([
      {
        who: ADMINISTRATOR.subject,
        what: 'had the payloads of this subject erased: asked to be forgotten',
        log: 'recourse.mutations',
        is_decision: true,
      },
    ]);
    expect(await ordered(kept)).toEqual([]);
    const [line] = await ordered(mutation);
    expect(JSON.stringify(line)).not.toContain(ERASED);
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
