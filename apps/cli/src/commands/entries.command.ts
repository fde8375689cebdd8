// recourse entry …: what the registry keeps beside contracts. recourse kill-switch …: its short form for who is on duty.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { sendInTurn, showFates } from '../contracts/fates.js';
import type { Row } from '../contracts/fates.js';
import { readDocuments } from '../contracts/files.js';
import { entryRequests } from '../entries/entry-files.js';
import { pathOf, retire, tenantIn } from '../entries/retiring.js';
import type { RetireOptions } from '../entries/retiring.js';
import { cellText, formatFields, instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { IDEMPOTENCY_KEY, LIMIT } from './options.js';
import type { Act } from './options.js';
import { addListAction } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'NAME', of: (row) => row['name'] },
  { title: 'VERSION', of: (row) => row['version'], align: 'right' },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'OWNER', of: (row) => docOf(row['entry'])['owner'] },
  { title: 'ABOUT', of: (row) => aboutOf(docOf(row['entry'])) },
  { title: 'STATE', of: (row) => (row['retired'] === true ? 'retired' : 'stands') },
  {
    title: 'REGISTERED',
    of: (row) => `${cellText(instant(row['registered_at']))} by ${cellText(row['registered_by'])}`,
  },
];
const SWITCH_COLUMNS: readonly Column<Doc>[] = [
  { title: 'NAME', of: (row) => row['name'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'STOPS', of: (row) => aboutOf(docOf(row['entry'])) },
  { title: 'SEVERITY', of: (row) => docOf(row['entry'])['severity'] },
  { title: 'REASON', of: (row) => docOf(row['entry'])['reason'] },
  { title: 'RUNBOOK', of: (row) => docOf(row['entry'])['runbook'] },
  { title: 'SINCE', of: (row) => `${cellText(instant(row['registered_at']))} by ${cellText(row['registered_by'])}` },
];
const KIND_HELP = 'policy-bundle, agent-charter, context-source, kill-switch, subscription or autonomy-policy';
const SEVERITIES = ['sev1', 'sev2', 'sev3', 'sev4'] as const;

interface RegisterOptions {
  readonly name?: string;
  readonly idempotencyKey?: string;
}
interface ListOptions {
  readonly name?: string;
  readonly retired?: boolean;
  readonly limit: number;
}
interface SwitchOptions {
  readonly over: Scope;
  readonly haltsRecovery?: boolean;
  readonly severity: string;
  readonly runbook: string;
  readonly reason: string;
  readonly owner?: string;
  readonly idempotencyKey?: string;
}
type Scope =
  | { readonly over: 'tenant' }
  | { readonly over: 'agent'; readonly agent: string }
  | { readonly over: 'capability'; readonly capability: string };

export function addEntries(program: Command, act: Act): void {
  const entries = program
    .command('entry')
    .alias('entries')
    .description(
      'policy bundles, agent charters, context sources, kill switches, consumer subscriptions and autonomy policies',
    );
  addReads(entries, act);
  addChanges(entries, act);
  addSwitches(program, act);
}

function addReads(entries: Command, act: Act): void {
  entries
    .command('list')
    .description('lists the entries of one kind, of the tenant and for all tenants')
    .argument('<kind>', KIND_HELP)
    .option('--name <name>', 'of one name')
    .option('--retired', 'retired ones instead of those that stand')
    .addOption(LIMIT())
    .action(
      act<ListOptions>(async (session, { name, retired, limit }, kind = '') => {
        const query = { name, retired: String(retired === true), tenant: session.tenant };
        const listed = await session.service('contracts').list(pathOf(kind), query, limit);
        session.show(listed, () => listText(COLUMNS, listed));
      }),
    );
  entries
    .command('show')
    .description('shows the newest version of one entry')
    .argument('<kind>', KIND_HELP)
    .argument('<name>', 'its name')
    .action(
      act(async (session, _options, kind = '', name = '') => {
        const found = await session.service('contracts').get(pathOf(kind, name), { tenant: session.tenant });
        session.show(found, () => describe(found));
      }),
    );
}

function addChanges(entries: Command, act: Act): void {
  entries
    .command('register')
    .description('registers entries or new versions of them; lists everything that is wrong at once')
    .argument('<kind>', KIND_HELP)
    .argument('<paths...>', 'files or folders, YAML or JSON; each document has a name beside its fields')
    .option('--name <name>', 'name of a single entry')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<RegisterOptions>((session, options, kind = '', ...paths) =>
        register(
          session,
          kind,
          paths.flat().filter((path) => path !== undefined),
          options,
        ),
      ),
    );
  entries
    .command('retire')
    .description('retires what is registered')
    .argument('<kind>', KIND_HELP)
    .argument('<name>', 'its name')
    .requiredOption('--reason <text>', 'why, in your words')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<RetireOptions>(async (session, options, kind = '', name = '') => {
        await retire(session, kind, name, options);
      }),
    );
}

function addSwitchOn(switches: Command, act: Act): void {
  switches
    .command('on')
    .description('turns a switch on, or changes what is said of one that is on; over what it is on stays')
    .argument('<name>', 'its name')
    .requiredOption('--over <scope>', 'tenant, agent:<id> or capability:<name>', scopeOf)
    .option('--halts-recovery', 'of a switch over an agent: stop the undoing of what it did, too')
    .requiredOption('--reason <text>', 'why, in your words')
    .requiredOption('--runbook <where>', 'what to do until it is lifted')
    .addOption(new Option('--severity <severity>', 'how grave').choices(SEVERITIES).default('sev1'))
    .option('--owner <subject>', 'who answers for it', 'role:operator')
    .addOption(IDEMPOTENCY_KEY())
    .action(act<SwitchOptions>((session, options, name = '') => switchOn(session, name, options)));
}

function addSwitches(program: Command, act: Act): void {
  const switches = program
    .command('kill-switch')
    .description('stops effects at once: while one is on, nothing of its scope is dispatched, guarded or reserved');
  addSwitchOn(switches, act);
  switches
    .command('off')
    .description('turns a switch off; what it held back continues')
    .argument('<name>', 'its name')
    .requiredOption('--reason <text>', 'why, in your words')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<RetireOptions>(async (session, options, name = '') => {
        await retire(session, 'kill_switch', name, options);
      }),
    );
  addListAction<{ retired?: boolean }>(
    switches
      .command('list')
      .description('lists the switches that are on')
      .option('--retired', 'those that were lifted'),
    act,
    {
      service: 'contracts',
      path: pathOf('kill_switch'),
      columns: SWITCH_COLUMNS,
      query: ({ retired = false }) => ({ retired: String(retired) }),
    },
  );
}

async function switchOn(
  session: Session,
  name: string,
  { over, haltsRecovery, severity, runbook, reason, owner, idempotencyKey }: SwitchOptions,
): Promise<void> {
  if (haltsRecovery === true && over.over !== 'agent')
    throw new CliProblem('INPUT_INVALID', '--halts-recovery is for a switch over an agent', 'usage', {
      remedy: 'Leave it out: a switch over a tenant or a capability stops recoveries anyway.',
    });
  const scope = haltsRecovery === true ? { ...over, halts_recovery: true } : over;
  const entry = { owner, doc: reason, scope, severity, runbook, reason };
  const answer = await session
    .service('contracts')
    .command(pathOf('kill_switch'), { name, entry, ...tenantIn(session) }, idempotencyKey);
  session.show(answer, () => formatFields([['switch', 'on'], ...Object.entries(answer)]));
}

async function register(
  session: Session,
  kind: string,
  paths: readonly string[],
  { name, idempotencyKey }: RegisterOptions,
): Promise<ExitKind> {
  const documents = readDocuments(paths, session.folder, 'entries');
  const requests = entryRequests(documents, name).map((request) => ({ ...request, ...tenantIn(session) }));
  const path = pathOf(kind);
  const [first, ...more] = requests;
  if (first !== undefined && more.length === 0) {
    const answer = await session.service('contracts').command(path, first, idempotencyKey);
    session.show(answer, () => formatFields(Object.entries(answer)));
    return 'done';
  }
  const sendings = requests.map((value, at) => ({ file: documents[at]?.file ?? '', value }));
  const fates = await sendInTurn(
    sendings.map((one) => [one]),
    idempotencyKey,
    (group, key) =>
      Promise.all(
        group.map(async (one) => {
          const answer = await session.service('contracts').command(path, one.value, key);
          return [one, { became: 'registered', answer }] as const;
        }),
      ),
  );
  const rows = sendings.map((one): Row => ({ ...one, ...(fates.get(one) ?? { became: 'not sent', answer: {} }) }));
  return showFates(session, rows, { one: 'entry', several: 'entries' });
}

/** What an entry is about, in a few words. */
function aboutOf(entry: Doc): string | null {
  const scope = docOf(entry['scope']);
  if (typeof scope['over'] === 'string')
    return [
      scope['over'],
      scope['agent'] ?? scope['capability'],
      scope['halts_recovery'] === true ? 'and its undoing' : null,
    ]
      .filter((part) => typeof part === 'string')
      .join(' ');
  const named = entry['agent'] ?? entry['consumer'] ?? entry['sensitivity'];
  if (typeof named === 'string') return named;
  return Array.isArray(entry['admission'])
    ? `${entry['admission'].length} admission, ${Array.isArray(entry['recovery']) ? entry['recovery'].length : 0} recovery rules`
    : null;
}

function describe(found: Doc): string {
  const {
    kind,
    name,
    version,
    tenant,
    digest,
    registered_at,
    registered_by,
    retired,
    retired_at,
    retired_by,
    reason,
    entry,
  } = found;
  const head = formatFields([
    ['kind', kind],
    ['name', name],
    ['version', version],
    ['tenant', tenant],
    ['digest', digest],
    ['registered', `${cellText(instant(registered_at))} by ${cellText(registered_by)}`],
    [
      'state',
      retired === true
        ? `retired ${cellText(instant(retired_at))} by ${cellText(retired_by)}: ${cellText(reason)}`
        : 'stands',
    ],
  ]);
  return `${head}\n\n${formatFields(Object.entries(docOf(entry)))}`;
}

/** Errors: InvalidArgumentError, which commander reports. */
function scopeOf(text: string): Scope {
  const [over, ...rest] = text.split(':');
  const named = rest.join(':');
  if (over === 'tenant' && named === '') return { over };
  if (over === 'agent' && named !== '') return { over, agent: named };
  if (over === 'capability' && named !== '') return { over, capability: named };
  throw new InvalidArgumentError('It must be tenant, agent:<id> or capability:<name>.');
}
