// Asks every route that reads, of what a suite has left behind: `get` holds each answer against the document of its service.
import { ADMINISTRATOR, itemsOf, OPERATOR } from './system.testing.js';
import type { Facts, Reply, Side, System } from './system.testing.js';

/** Where the things are listed that a path names, and the member that names them. */
const LISTED: Readonly<Record<string, readonly [list: string, member: string]>> = {
  '/v1/contracts/{name}': ['/v1/contracts', 'name'],
  '/v1/entries/{kind}/{name}': ['/v1/entries/{kind}', 'name'],
  '/v1/mutations/{id}': ['/v1/mutations', 'mutation_id'],
  '/v1/resolve/{any_id}': ['/v1/mutations', 'mutation_id'],
  '/v1/runs/{run_id}/undo-preview': ['/v1/mutations', 'run_id'],
  '/v1/runs/{run_id}/resume': ['/v1/commits', 'run_id'],
  '/v1/commits/{id}': ['/v1/commits', 'commit_id'],
  '/v1/commits/{id}/packet': ['/v1/commits', 'commit_id'],
  '/v1/compensations/{id}': ['/v1/compensations', 'compensation_id'],
  '/v1/lineage/{commit}': ['/v1/mutations', 'mutation_id'],
  '/v1/lineage/{commit}/boxes': ['/v1/mutations', 'mutation_id'],
  '/v1/lineage/{commit}/preview': ['/v1/mutations', 'mutation_id'],
  '/v1/lineage/{commit}/settled': ['/v1/mutations', 'mutation_id'],
  '/v1/rollbacks/{id}': ['/v1/rollbacks', 'rollback_id'],
  '/v1/undos/{id}': ['/v1/undos', 'undo_id'],
  '/v1/reviews/{step_id}': ['/v1/steps', 'step_id'],
  '/v1/steps/{id}': ['/v1/steps', 'step_id'],
  '/v1/tasks/{id}': ['/v1/tasks', 'task_id'],
  '/v1/incidents/{id}': ['/v1/incidents', 'incident_id'],
  '/v1/forward-approvals/{id}': ['/v1/forward-approvals', 'approval_id'],
  '/v1/escalations/{id}': ['/v1/escalations', 'escalation_id'],
  '/v1/escalations/{id}/uses': ['/v1/escalations', 'escalation_id'],
  '/v1/autonomy/{id}': ['/v1/autonomy', 'autonomy_id'],
  '/v1/deliveries/{id}': ['/v1/deliveries', 'id'],
};
const KINDS = ['agent_charter', 'autonomy_policy', 'context_source', 'kill_switch', 'policy_bundle', 'subscription'];
/** What a route has to be asked with. */
const QUERY: Readonly<Record<string, string>> = {
  '/v1/state-hash': '?partition=0',
  '/v1/sources/drill': '?source=monitor&ref=order%2F4711%23not_shipped',
  '/v1/commits/{id}': '?state=true',
};
/** Things of one list that are asked for one by one. */
const THINGS_MAX = 20;

/** How many routes answered with something; each answer is as its document says, or this fails. */
export async function walkAnswers(system: System, sides: readonly Side[]): Promise<number> {
  let seen = 0;
  for (const side of sides) {
    const routes = system.told.get(side)?.routes ?? [];
    for (const route of routes) if (route.startsWith('GET ')) await walk(system, side, route.slice('GET '.length));
    seen += system.told.get(side)?.seen.size ?? 0;
  }
  return seen;
}

async function walk(system: System, side: Side, path: string): Promise<void> {
  for (const asked of path.includes('{kind}') ? KINDS.map((kind) => path.replace('{kind}', kind)) : [path]) {
    const kind = asked.split('/')[3] ?? '';
    const [list, member] = LISTED[path] ?? [];
    if (list === undefined || member === undefined) {
      if (!asked.includes('{')) await read(system, side, `${asked}${QUERY[path] ?? ''}`);
      continue;
    }
    const things = itemsIn(await read(system, side, list.replace('{kind}', kind)));
    for (const thing of things.slice(0, THINGS_MAX)) {
      const name = encodeURIComponent(String(thing[member]));
      await read(system, side, `${asked.replace(/\{\w+\}/, name)}${QUERY[path] ?? ''}`);
    }
  }
}

const itemsIn = (reply: Reply): readonly Facts[] => (reply.status === 200 ? itemsOf(reply) : []);

/** As whoever may: an operator of the tenant, and what is everybody's as an administrator of all. */
async function read(system: System, side: Side, path: string): Promise<Reply> {
  const reply = await system.get(side, path, OPERATOR);
  return reply.status === 403 ? system.get(side, path, ADMINISTRATOR) : reply;
}
