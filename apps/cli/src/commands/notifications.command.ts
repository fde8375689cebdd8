// recourse notifications …: who is told what waits for a person, what did not arrive, and the way out.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { endpointsOf } from '../endpoints.js';
import { cellText, formatFields, instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';
import { addListAction, pathBelow } from './shapes.js';

const DELIVERIES: readonly Column<Doc>[] = [
  { title: 'DELIVERY', of: (row) => row['id'] },
  { title: 'ENDPOINT', of: (row) => row['endpoint'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'OCCASION', of: (row) => row['occasion'] },
  { title: 'KIND', of: (row) => row['item_kind'] },
  { title: 'ITEM', of: (row) => row['item_id'] },
  { title: 'STATE', of: (row) => row['state'] },
  { title: 'ATTEMPTS', of: (row) => row['attempts'] },
  { title: 'LAST ERROR', of: (row) => errorText(row) },
  { title: 'NEXT', of: (row) => instant(row['next_at']) },
];

const ENDPOINTS: readonly Column<Doc>[] = [
  { title: 'ENDPOINT', of: (row) => row['name'] },
  { title: 'STATE', of: (row) => row['state'] },
  { title: 'SHAPE', of: (row) => row['shape'] },
  { title: 'TO', of: (row) => row['to'] },
  { title: 'TENANTS', of: (row) => row['tenants'] },
  { title: 'KINDS', of: (row) => row['kinds'] },
  { title: 'QUEUED', of: (row) => row['queued'] },
  { title: 'GIVEN UP', of: (row) => row['given_up'] },
  { title: 'OLDEST DUE', of: (row) => instant(row['oldest_due_at']) },
];

const deliveryPath = pathBelow('/v1/deliveries');
const endpointPath = pathBelow('/v1/endpoints');

/** How long an outcome is waited for before it is left to the list; milliseconds. */
const PATIENCE_MS = 15_000;
const LOOK_EVERY_MS = 250;

export function addNotifications(program: Command, act: Act): void {
  const notifications = program
    .command('notifications')
    .description('webhooks that tell approvers what waits for them');
  addListAction<{ state?: string; endpoint?: string }>(
    notifications
      .command('list')
      .description('lists what was sent to whom, and what was not')
      .addOption(new Option('--state <state>', 'only these').choices(['queued', 'delivered', 'given_up', 'superseded']))
      .option('--endpoint <name>', 'of one endpoint'),
    act,
    {
      service: 'notifier',
      path: '/v1/deliveries',
      columns: DELIVERIES,
      query: ({ state, endpoint }) => ({ state, endpoint }),
      text: (listed) => withWaysOut(listText(DELIVERIES, listed), listed.items),
    },
  );
  notifications
    .command('retry')
    .description('tries a queued or given-up delivery again, and waits for the outcome')
    .argument('<delivery>', 'delivery id')
    .action(act((session, _options, id = '') => outcome(session, deliveryPath(id, 'retry'))));
  addEndpoints(notifications, act);
}

/** Who is told, and whether the way to them works. */
function addEndpoints(notifications: Command, act: Act): void {
  notifications
    .command('endpoints')
    .description('lists endpoints: who is told what, and whether it is on')
    .action(
      act(async (session) => {
        const listed = { items: await endpointsOf(session), more: false };
        session.show(listed, () => withWaysOut(listText(ENDPOINTS, listed), listed.items));
      }),
    );
  notifications
    .command('test')
    .description('sends an endpoint a test notice, and waits for the outcome')
    .argument('<endpoint>', 'name')
    .action(act((session, _options, name = '') => outcome(session, endpointPath(name, 'test'))));
  notifications
    .command('on')
    .description('turns an endpoint back on after its receiver said it was gone')
    .argument('<endpoint>', 'name')
    .action(
      act(async (session, _options, name = '') => {
        const endpoint = await session.service('notifier').command(endpointPath(name, 'on'), {});
        session.show(endpoint, () => formatFields(Object.entries(endpoint)));
      }),
    );
}

/** Sends, then looks until an attempt has ended; the exit code says whether the receiver took it. */
async function outcome(session: Session, path: string): Promise<ExitKind | undefined> {
  const notifier = session.service('notifier');
  let delivery = await notifier.command(path, {});
  const before = delivery['attempts'];
  const deadline = session.clock.monotonic() + PATIENCE_MS;
  while (delivery['state'] === 'queued' && !hasFailedSince(delivery, before) && session.clock.monotonic() < deadline) {
    await session.clock.sleep(LOOK_EVERY_MS);
    delivery = await notifier.get(deliveryPath(String(delivery['id'])));
  }
  session.show(delivery, () => describeDelivery(delivery));
  if (delivery['state'] === 'delivered') return undefined;
  return hasFailedSince(delivery, before) ? 'unavailable' : 'pending';
}

/** An attempt that was begun since, and has ended with an error. */
function hasFailedSince(delivery: Doc, before: unknown): boolean {
  return delivery['attempts'] !== before && delivery['last_error'] !== null;
}

function describeDelivery(delivery: Doc): string {
  return formatFields([
    ['delivery', delivery['id']],
    ['endpoint', delivery['endpoint']],
    ['tenant', delivery['tenant']],
    ['occasion', delivery['occasion']],
    ['item', delivery['item_id']],
    ['state', delivery['state']],
    ['attempts', delivery['attempts']],
    ['last error', errorText(delivery)],
    ['next', instant(delivery['next_at'])],
    ['way out', delivery['way_out']],
  ]);
}

function errorText(row: Doc): string | null {
  const error = docOf(row['last_error']);
  if (error['code'] === undefined) return null;
  return `${cellText(error['code'])}${error['http_status'] === null ? '' : ` (${cellText(error['http_status'])})`}`;
}

/** Each way out once, below the table. */
function withWaysOut(table: string, items: readonly Doc[]): string {
  const ways = [...new Set(items.map((item) => item['way_out']).filter((way) => typeof way === 'string'))];
  return ways.length === 0 ? table : `${table}\n\n${ways.map((way) => `What to do: ${way}`).join('\n')}`;
}
