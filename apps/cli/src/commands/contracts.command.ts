// recourse contracts … (also: recourse contract …)
import { DRAFT_SOURCES, draftsFrom, sourceOf } from '@recourse/contract';
import type { DraftSource } from '@recourse/contract';
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { addAnswer } from './contract-answer.command.js';
import { changesOf, changesText } from '../contracts/changes.js';
import { draftsText } from '../contracts/drafting.js';
import { readDocuments, readOne } from '../contracts/files.js';
import { lintDocuments, lintText } from '../contracts/lint.js';
import { contractIn, isFile, registered, versionsIn } from '../contracts/reading.js';
import { confirmationText, registerAll, registrationText, retirementText } from '../contracts/registering.js';
import { withStanding } from '../contracts/standing.js';
import { formatFields, formatTable, instant, span } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { IDEMPOTENCY_KEY, positiveInteger } from './options.js';
import type { Act } from './options.js';
import { addListAction } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'NAME', of: (row) => row['name'] },
  { title: 'VERSION', of: (row) => row['version'], align: 'right' },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'CLASS', of: (row) => docOf(row['contract'])['reversal_class'] },
  { title: 'IMPACT', of: (row) => docOf(row['contract'])['impact'] },
  { title: 'WINDOW', of: (row) => span(docOf(row['contract'])['reversal_window_ms']) },
  { title: 'STATE', of: (row) => (row['retired'] === true ? 'retired' : row['stands'] === true ? 'stands' : 'older') },
  { title: 'REGISTERED', of: (row) => instant(row['registered_at']) },
];

const PROPOSAL_COLUMNS: readonly Column<Doc>[] = [
  { title: 'NAME', of: (row) => row['name'] },
  { title: 'VERSION', of: (row) => row['version'], align: 'right' },
  { title: 'ASKS TO', of: (row) => (row['retires'] === true ? 'retire' : 'register') },
  { title: 'PROPOSED BY', of: (row) => row['proposed_by'] },
  { title: 'LAPSES', of: (row) => instant(row['expires_at']) },
  { title: 'DIGEST', of: (row) => row['digest'] },
  { title: 'WEAKER BY', of: (row) => row['weakenings'] },
];

const FILE_HELP = 'YAML or JSON; needs no running service';

export function addContracts(program: Command, act: Act): void {
  const contracts = program
    .command('contracts')
    .alias('contract')
    .description('reversal contracts: what a capability does and how it is undone');
  for (const add of [addReads, addFiles, addDraft, addAnswer, addRegistration, addProposals]) add(contracts, act);
}

function addReads(contracts: Command, act: Act): void {
  addListAction<{ name?: string; retired?: boolean }>(
    contracts
      .command('list')
      .description('lists the contracts of the tenant and those for all tenants')
      .option('--name <name>', 'versions of one capability')
      .option('--retired', 'retired ones instead of the others'),
    act,
    {
      service: 'contracts',
      path: '/v1/contracts',
      columns: COLUMNS,
      query: ({ name }) => ({ name }),
      among: (all, { retired = false }) => withStanding(all).filter((row) => (row['retired'] === true) === retired),
    },
  );
  contracts
    .command('show')
    .description('shows one contract, from the registry (the newest version unless another is named) or from a file')
    .argument('<name-or-file>', 'capability, such as payments.issue_refund, or a file')
    .option('--contract-version <n>', 'version', positiveInteger)
    .action(
      act<{ contractVersion?: number }>(async (session, { contractVersion }, name = '') => {
        if (isFile(session, name)) {
          const contract = contractIn(name, session.folder);
          session.show(contract, () => termsText(contract));
          return;
        }
        const found = await registered(session, name, contractVersion);
        session.show(found, () => describe(found));
      }),
    );
}

function addFiles(contracts: Command, act: Act): void {
  contracts
    .command('lint')
    .description(
      `what is wrong with contracts, everything at once, and what would raise their class; ${FILE_HELP}. Exit 1 when one would not register`,
    )
    .argument('<paths...>', 'files or folders; contracts in them may name each other')
    .option('--known <capabilities>', 'capabilities that stand without being in these files, separated by commas')
    .option('--strict', 'advice counts as found too')
    .action(
      act<{ known?: string; strict?: boolean }>((session, { known, strict }, ...paths) => {
        const reports = lintDocuments(
          readDocuments(listOf(paths), session.folder, 'contracts'),
          known?.split(',').map((name) => name.trim()) ?? [],
        );
        session.show({ contracts: reports }, () => lintText(reports));
        const isFound = reports.some(
          ({ problems, advice }) => problems.length > 0 || (strict === true && advice.length > 0),
        );
        return Promise.resolve<ExitKind>(isFound ? 'found' : 'done');
      }),
    );
  contracts
    .command('diff')
    .description(`what two versions differ in, and whether the newer is weaker; ${FILE_HELP}. Exit 1 when it is weaker`)
    .argument('<older>', 'file')
    .argument('<newer>', 'file')
    .option(
      '--open <n>',
      'mutations still open under the older version: also says what becomes of them',
      positiveInteger,
    )
    .action(
      act<{ open?: number }>((session, { open = 0 }, older = '', newer = '') => {
        const changes = changesOf(...versionsIn(older, newer, session.folder), open);
        session.show(changes, () => changesText(changes));
        return Promise.resolve<ExitKind>(changes.weaker ? 'found' : 'done');
      }),
    );
}

function addDraft(contracts: Command, act: Act): void {
  contracts
    .command('draft')
    .description(`a first proposal per tool, never one that binds; ${FILE_HELP}`)
    .argument('<file>', 'MCP tool list, OpenAPI document, or tool declarations')
    .addOption(new Option('--from <kind>', 'what the file is, where it does not show').choices(DRAFT_SOURCES))
    .option('--adapter <name>', 'prefix of the capabilities', 'tools')
    .option('--owner <owner>', 'who answers for them')
    .option('--currency <code>', 'currency of bare amounts', currencyCode, 'INR')
    .action(
      act<{ from?: DraftSource; adapter: string; owner?: string; currency: string }>(
        (session, { from, adapter, owner, currency }, file = '') => {
          const { value } = readOne(file, session.folder);
          const source = from ?? sourceOf(value);
          if (source === null)
            throw new CliProblem('DOCUMENT_UNKNOWN', `${file} is no tool list and no OpenAPI document`, 'usage', {
              remedy: 'Say with --from what it is.',
            });
          const drafts = draftsFrom(source, value, { adapter, owner: owner ?? null, currency });
          session.show({ drafts }, () => draftsText(drafts));
          return Promise.resolve();
        },
      ),
    );
}

function addRegistration(contracts: Command, act: Act): void {
  contracts
    .command('register')
    .description(
      'registers contracts or new versions; lists everything that is wrong at once; a weaker version waits for a second person',
    )
    .argument('<paths...>', 'files or folders, YAML or JSON')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<{ idempotencyKey?: string }>((session, { idempotencyKey }, ...paths) =>
        registerAll(session, readDocuments(listOf(paths), session.folder, 'contracts'), idempotencyKey),
      ),
    );
}

/** Weaker versions, and the second person who confirms them. */
function addProposals(contracts: Command, act: Act): void {
  addListAction(contracts.command('proposals').description('weaker versions that wait for a second person'), act, {
    service: 'contracts',
    path: '/v1/contract-proposals',
    by: 'expires_at',
    columns: PROPOSAL_COLUMNS,
  });
  addConfirm(contracts, act);
  addRetire(contracts, act);
  contracts
    .command('withdraw')
    .description('withdraws a weaker version that waits')
    .argument('<name>', 'capability')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<{ idempotencyKey?: string }>(async (session, { idempotencyKey }, name = '') => {
        const answer = await session
          .service('contracts')
          .command(`/v1/contracts/${encodeURIComponent(name)}/withdraw`, tenantIn(session), idempotencyKey);
        session.show(answer, () => registrationText(answer));
      }),
    );
}

function addConfirm(contracts: Command, act: Act): void {
  contracts
    .command('confirm')
    .description('confirms a weaker version as the second person')
    .argument('<name>', 'capability')
    .requiredOption('--digest <digest>', 'what was looked at')
    .addOption(
      new Option('--with <name=digest>', 'another that is confirmed with it, or neither; may be repeated').argParser(
        lookedAt,
      ),
    )
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<Confirming>(async (session, { digest, with: together, idempotencyKey }, name = '') => {
        const body = { digest, ...(together === undefined ? {} : { together }), ...tenantIn(session) };
        const answer = await session
          .service('contracts')
          .command(`/v1/contracts/${encodeURIComponent(name)}/confirm`, body, idempotencyKey);
        session.show(answer, () => confirmationText(answer));
      }),
    );
}

function addRetire(contracts: Command, act: Act): void {
  contracts
    .command('retire')
    .description(
      'retires a version: nothing new executes under it; one in whose place a looser one would bind waits for a second person',
    )
    .argument('<name>', 'capability')
    .requiredOption('--contract-version <n>', 'version', positiveInteger)
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<{ contractVersion: number; idempotencyKey?: string }>(
        async (session, { contractVersion: version, idempotencyKey }, name = '') => {
          const answer = await session
            .service('contracts')
            .command(
              `/v1/contracts/${encodeURIComponent(name)}/retire`,
              { version, ...tenantIn(session) },
              idempotencyKey,
            );
          session.show(answer, () => retirementText(answer));
        },
      ),
    );
}

interface Confirming {
  readonly digest: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly idempotencyKey?: string;
}

/** Digests by capability. Errors: InvalidArgumentError, which commander reports. */
function lookedAt(text: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [name = '', digest = '', ...more] = text.split('=');
  if (name === '' || digest === '' || more.length > 0)
    throw new InvalidArgumentError('It must be a capability, = and its digest.');
  if (Object.hasOwn(before, name)) throw new InvalidArgumentError(`${name} is given twice.`);
  return { ...before, [name]: digest };
}

/** Commander gives a variadic argument as one list. */
function listOf(given: readonly unknown[]): readonly string[] {
  return given.flat().filter((path) => typeof path === 'string');
}

function tenantIn({ tenant }: Session): { readonly tenant?: string } {
  return tenant === null ? {} : { tenant };
}

function currencyCode(text: string): string {
  if (/^[A-Z]{3}$/.test(text)) return text;
  throw new InvalidArgumentError('It must be an ISO 4217 code, such as INR.');
}

function describe(found: Doc): string {
  const { name, version, tenant, digest, registered_by, registered_at, retired, contract } = found;
  const head = formatFields([
    ['name', name],
    ['version', version],
    ['tenant', tenant],
    ['digest', digest],
    ['registered', `${String(instant(registered_at))} by ${String(registered_by)}`],
    ['state', retired === true ? 'retired' : 'stands'],
  ]);
  return `${head}\n\n${termsText(docOf(contract))}`;
}

function termsText(contract: object): string {
  return formatTable<[string, unknown]>(
    [
      { title: 'TERM', of: ([term]) => term },
      { title: 'VALUE', of: ([, value]) => value },
    ],
    Object.entries(contract),
  );
}
