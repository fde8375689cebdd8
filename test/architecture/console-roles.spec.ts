// The console offers a command to those whom the service lets in, and to nobody else: held against the one table of routes and roles.
import { expect, it, jest } from '@jest/globals';
import { ACCESS, ROLES } from '@recourse/service';
import type { AccessTable } from '@recourse/service';
import { ledger, recoveries } from '../../apps/console/page/api/clients.js';
import type { Verb } from '../../apps/console/page/parts/verb.js';
import { itemVerbs } from '../../apps/console/page/screens/item.verbs.js';
import { verbsOf } from '../../apps/console/page/screens/review.verbs.js';

const EDGES: readonly (readonly [keyof typeof ACCESS, jest.Spied<(path: string) => Promise<unknown>>])[] = [
  ['mutation-ledger', jest.spyOn(ledger, 'POST') as never], // what it is asked with is of each route
  ['recovery-orchestrator', jest.spyOn(recoveries, 'POST') as never],
];

/** A breaker is closed wherever it is open, which is read first. */
const reading = jest.spyOn(ledger, 'GET');

/** Roles that somebody may carry at a tenant; those of the platform come as one of them. */
const EVERY_ROLE = Object.keys(ROLES).filter((role) => !role.startsWith('platform_'));

/** Whom the route that a verb goes to lets in. */
async function letIn(verb: Verb): Promise<readonly string[]> {
  for (const [, post] of EDGES) {
    post.mockReset();
    post.mockResolvedValue({ data: {}, response: Response.json({}) });
  }
  reading.mockResolvedValue({ data: { items: [{ run_id: 'r' }] }, response: Response.json({}) });
  await verb.send({ reason: 'why', key: 'k', fields: {} });
  const [service, path] = EDGES.flatMap(([name, post]) => post.mock.calls.map(([to]) => [name, to] as const))[0] ?? [];
  if (service === undefined || path === undefined) throw new Error(`${verb.name} sends nothing`);
  const table: AccessTable = ACCESS[service];
  return table[`POST ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`]?.roles ?? [];
}

/** Who may press each button, and whom its route lets in. */
async function heldAgainst(offered: (roles: readonly string[]) => readonly Verb[]) {
  const names = new Set(EVERY_ROLE.flatMap((role) => offered([role]).map(({ name }) => name)));
  const pairs: [string, readonly string[], readonly string[]][] = [];
  for (const name of names) {
    const mine = (role: string): Verb | undefined => offered([role]).find((verb) => verb.name === name);
    const may = EVERY_ROLE.filter((role) => (mine(role)?.blocked ?? null) === null && mine(role) !== undefined);
    const verb = may.map(mine).find((one) => one !== undefined);
    const said = verb === undefined ? [] : await letIn(verb);
    pairs.push([name, may, EVERY_ROLE.filter((role) => said.includes(role))]);
  }
  return pairs;
}

it.each([
  ['rollback', { phase: 'held' }],
  ['rollback', { phase: 'beyond' }],
  ['execution', { awaited: {} }],
  ['delivery', { phase: 'overdue' }],
  ['breaker', { phase: 'open' }],
  ['divergence', {}],
  ['trend', {}],
])('an item of kind %s (%j) is ended at the console by those whom the service lets in', async (kind, row) => {
  const pairs = await heldAgainst((roles) => itemVerbs(kind, { ...row }, 'x', roles));
  expect(pairs).not.toEqual([]);
  for (const [name, may, said] of pairs) expect([name, may]).toEqual([name, said]);
});

it('a step is decided at the console by those whom the orchestrator lets in', async () => {
  // The rest of a review is not looked at.
  const seen = {
    ...{ step_id: 's', action_digest: 'ab', phase: 'awaiting_approval', missing: [], compensation: null },
    ...{ action: { value: null }, approvals: { required: 1, given: [] }, closes_at: null },
    may: ['approve', 'deny', 'check', 'retry', 'resolve', 'escalate', 'abandon', 'break-glass'],
  } as unknown as Parameters<typeof verbsOf>[0];
  const pairs = await heldAgainst((roles) => verbsOf(seen, roles));
  expect(pairs.length).toBe(8);
  for (const [name, may, said] of pairs) expect([name, may]).toEqual([name, said]);
});
