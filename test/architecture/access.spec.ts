// Every route of every service × every role × own, other and every tenant, against the edges as they run: controllers, guards and
// checks over ports in memory. A route that has no row in the one table (libs/service/src/edge/access.ts) fails here.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ACCESS, LIMIT_RATES, ROLES } from '@recourse/service';
import type { AccessTable, Role } from '@recourse/service';
import { Edges, OPENED } from './edges.testing.js';
import type { Edge, Route } from './edges.testing.js';

const EVERY_ROLE = Object.keys(ROLES) as readonly Role[]; // its keys are its type
/** Roles that count in a token for all tenants; a platform approver is an approver of each. */
const OF_ALL: readonly Role[] = ['administrator', 'auditor', 'platform_editor', 'platform_approver'];
const SERVICES = [
  'contract-registry',
  'mutation-ledger',
  'recovery-orchestrator',
  'budget-accountant',
  'notifier',
] as const;
const FREELY = { burst: 1_000_000, perSecond: 1_000_000 };
const OWN = 'acme';
const OTHER = 'globex';

let edges: Edges;
const edgeOf = (name: string): Edge => {
  const edge = edges.all.find((each) => each.name === name);
  if (edge === undefined) throw new Error(`no edge ${name}`);
  return edge;
};
beforeAll(async () => {
  // Every route for every role is more than anybody asks in a second, and how often is another spec's matter (hostile.spec.ts).
  edges = await Edges.open({ rates: { ...LIMIT_RATES, address: FREELY, principal: FREELY } });
}, 60_000);
afterAll(() => edges.close());

interface Asked {
  readonly token?: string;
  /** The tenant the request names. */
  readonly named?: string;
}

async function ask(
  { app }: Edge,
  { method, path }: Route,
  { token, named }: Asked,
): Promise<{ status: number; code: string }> {
  const url = path.replaceAll(/\{\w+\}/g, 'x');
  const isRead = method === 'GET' || method === 'DELETE';
  const query = isRead && named !== undefined ? `?tenant=${encodeURIComponent(named)}` : '';
  const answer = await app.inject({
    method: method as 'GET', // one of those that inject takes
    url: `${url}${query}`,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(isRead ? {} : { payload: named === undefined ? {} : { tenant: named } }),
  });
  const body: unknown = answer.body === '' ? {} : answer.json();
  const code = typeof body === 'object' && body !== null && 'code' in body ? String(body.code) : '';
  return { status: answer.statusCode, code };
}

/** Whether the table lets a role in, with a token for a tenant or for all. */
function isLetIn(table: AccessTable, row: string, role: Role, isOfAll: boolean): boolean {
  const access = table[row];
  const counts: readonly Role[] = isOfAll
    ? OF_ALL.includes(role)
      ? role === 'platform_approver'
        ? [role, 'approver']
        : [role]
      : []
    : role.startsWith('platform_')
      ? []
      : [role];
  if (access === undefined || !access.roles.some((each) => counts.includes(each))) return false;
  return access.reach === 'tenant' || isOfAll;
}

describe.each(SERVICES)('the routes of %s', (name) => {
  const table: AccessTable = ACCESS[name];

  it('have a row each, and no row is of a route there is not', () => {
    expect(
      edgeOf(name)
        .routes.map(({ row }) => row)
        .sort(),
    ).toEqual(Object.keys(table).sort());
  });

  it('let nobody in without a token', async () => {
    const edge = edgeOf(name);
    for (const route of edge.routes)
      expect([route.row, (await ask(edge, route, {})).code]).toEqual([route.row, 'TOKEN_MISSING']);
  });

  it.each(EVERY_ROLE)('let %s in where the table says so, in its own tenant', async (role) => {
    const edge = edgeOf(name);
    const token = await edges.token(OWN, [role]);
    const wrong: string[] = [];
    for (const route of edge.routes) {
      const { status, code } = await ask(edge, route, { token });
      const isRefused = status === 401 || code === 'ROLE_REQUIRED' || code === 'TENANT_FOREIGN';
      if (isRefused === isLetIn(table, route.row, role, false)) wrong.push(`${route.row}: ${String(status)} ${code}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each(EVERY_ROLE)('let %s in where the table says so, with a token for all tenants', async (role) => {
    const edge = edgeOf(name);
    const token = await edges.token('*', [role]);
    const wrong: string[] = [];
    for (const route of edge.routes) {
      const { status, code } = await ask(edge, route, { token, named: OTHER });
      const isRefused = status === 401 || code === 'ROLE_REQUIRED' || code === 'TENANT_FOREIGN';
      if (isRefused === isLetIn(table, route.row, role, true)) wrong.push(`${route.row}: ${String(status)} ${code}`);
    }
    expect(wrong).toEqual([]);
  });

  it.each(EVERY_ROLE)('show and do %s nothing in another tenant, whether it is named or not', async (role) => {
    const edge = edgeOf(name);
    const token = await edges.token(OWN, [role]);
    edge.submitted.length = 0;
    for (const route of edge.routes) {
      for (const named of [OTHER, '*']) {
        const { code } = await ask(edge, route, { token, named });
        expect([route.row, named, code]).toEqual([
          route.row,
          named,
          expect.stringMatching(/^(?:ROLE_REQUIRED|TENANT_FOREIGN)$/),
        ]);
      }
      const unnamed = await edge.app.inject({
        method: route.method as 'GET',
        url: route.path.replaceAll(/\{\w+\}/g, 'x'),
        headers: { authorization: `Bearer ${token}` },
        ...(route.method === 'POST' ? { payload: {} } : {}),
      });
      expect([route.row, unnamed.body.includes(OTHER)]).toEqual([route.row, false]);
    }
    expect(edge.submitted.filter(({ tenant }) => tenant !== OWN)).toEqual([]);
  });
});

describe.each(SERVICES)('sealed payloads at the routes of %s', (name) => {
  const table: AccessTable = ACCESS[name];

  it.each(EVERY_ROLE)(
    'are opened for %s where the table says so, each time on record, and say elsewhere who opens them',
    async (role) => {
      const edge = edgeOf(name);
      const token = await edges.token(OTHER, [role]);
      const wrong: string[] = [];
      for (const route of edge.routes.filter(({ method }) => method === 'GET')) {
        edge.submitted.length = 0;
        const { body } = await edge.app.inject({
          method: 'GET',
          url: route.path.replaceAll(/\{\w+\}/g, 'x'),
          headers: { authorization: `Bearer ${token}` },
        });
        const isOpened = body.includes(OPENED);
        const readings = edge.submitted.filter(({ type }) => type === 'recourse.log.RecordReading').length;
        const mayOpen = table[route.row]?.opens?.includes(role) ?? false;
        if ((isOpened && !mayOpen) || (isOpened && readings !== 1) || readings > 1)
          wrong.push(`${route.row}: opened, ${String(readings)} on record`);
        if (!isOpened && mayOpen && body.includes('opens_with')) wrong.push(`${route.row}: stayed sealed`);
      }
      expect(wrong).toEqual([]);
    },
  );
});

describe('sealed payloads', () => {
  it('are opened in lists and rows for a payload reader, and for no other role', async () => {
    const edge = edgeOf('mutation-ledger');
    for (const path of [
      '/v1/mutations',
      '/v1/compensations',
      '/v1/compensations/x',
      '/v1/rollbacks/x',
      '/v1/assumptions',
    ])
      for (const role of EVERY_ROLE.filter((each) => !each.startsWith('platform_'))) {
        const headers = { authorization: `Bearer ${await edges.token(OTHER, [role])}` };
        const { body } = await edge.app.inject({ method: 'GET', url: path, headers });
        expect([path, role, body.includes(OPENED), body.includes('"opens_with":["payload_reader"]')]).toEqual([
          path,
          role,
          role === 'payload_reader',
          role !== 'payload_reader',
        ]);
      }
  });
});

describe('the rows of commands', () => {
  it('refuse at the edge, so that what a stranger asks for leaves nothing in a log', async () => {
    for (const edge of edges.all) {
      edge.submitted.length = 0;
      const token = await edges.token(OWN, ['viewer']);
      for (const route of edge.routes.filter(({ method }) => method !== 'GET')) await ask(edge, route, { token });
      expect(edge.submitted).toEqual([]);
    }
  });
});
