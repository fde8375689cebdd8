// recourse budgets …
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { alike } from '../output/alike.js';
import { briefFields } from '../output/brief.js';
import { amountIn, debitsIn, exceededIn, proposalIn } from '../output/debits.js';
import { offerFields } from '../output/offers.js';
import { formatFields, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { describeUses } from '../reports/harm.js';
import { addCeilings } from './ceilings.command.js';
import { addHarm } from './harm.command.js';
import { IDEMPOTENCY_KEY } from './options.js';
import type { Act } from './options.js';
import { isYes } from '../output/terminal.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { addListAction, pathBelow } from './shapes.js';
import type { Why } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'SCOPE', of: (row) => row['scope'] },
  { title: 'OF', of: (row) => row['scope_id'] },
  { title: 'UNIT', of: (row) => row['currency'] },
  { title: 'PER', of: (row) => row['window'] },
  { title: 'DEBT', of: (row) => amountIn(row['used_minor'], row['currency']), align: 'right' },
  { title: 'CEILING', of: (row) => ceilingIn(row, 'ceiling_minor', 'raised_minor'), align: 'right' },
  { title: 'MOVED', of: (row) => amountIn(row['moved_minor'], row['currency']), align: 'right' },
  { title: 'CEILING', of: (row) => ceilingIn(row, 'value_ceiling_minor', 'value_raised_minor'), align: 'right' },
  { title: 'STATE', of: (row) => (row['overrun'] === true ? 'overrun' : 'within') },
];

/** A ceiling, and what it is higher by for calls that somebody let through with a raise. */
function ceilingIn(row: Doc, set: string, higher: string): string {
  const ceiling = amountIn(row[set], row['currency']);
  if (ceiling === null) return 'none';
  return Number(row[higher] ?? 0) === 0 ? ceiling : `${ceiling} + ${String(amountIn(row[higher], row['currency']))}`;
}

const ESCALATION_COLUMNS: readonly Column<Doc>[] = [
  { title: 'ESCALATION', of: (row) => row['escalation_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'ABOUT', of: (row) => row['about'] },
  { title: 'EXCEEDS', of: (row) => exceededIn(row['exceeded']) },
  { title: 'ASKS FOR', of: (row) => debitsIn(row['debits']), align: 'right' },
  { title: 'ASKED BY', of: (row) => row['requested_by'] },
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'DECIDE BY', of: (row) => instant(row['deadline_at']) },
  { title: 'PHASE', of: (row) => row['phase'] },
];

const escalationPath = pathBelow('/v1/escalations');

export function addBudgets(program: Command, act: Act): void {
  const budgets = program.command('budgets').description('what runs and tenants may spend and have in use');
  addListAction<{ scope?: string; scopeId?: string }>(
    budgets
      .command('list')
      .description('lists budgets and how much of each is used')
      .option('--scope <scope>', 'run, agent, tenant or platform')
      .option('--scope-id <id>', 'of one run, agent or tenant'),
    act,
    {
      service: 'budgets',
      path: '/v1/budgets',
      columns: COLUMNS,
      query: ({ scope, scopeId }) => ({ scope, scope_id: scopeId }),
    },
  );
  addCeilings(budgets, act);
  addEscalations(budgets, act);
  addHarm(budgets, act);
}

function addEscalations(budgets: Command, act: Act): void {
  addListAction<{ run?: string; phase?: string }>(
    budgets
      .command('escalations')
      .description('lists what would exceed a ceiling or has, and waits for a person')
      .option('--run <id>', 'of one run')
      .option('--phase <phase>', 'open, approved, denied or withdrawn', 'open'),
    act,
    {
      service: 'budgets',
      path: '/v1/escalations',
      by: 'deadline_at',
      columns: ESCALATION_COLUMNS,
      query: ({ run, phase }) => ({ run_id: run, phase }),
    },
  );
  addShow(budgets, act);
  addWord(budgets, act, {
    name: 'approve',
    description: 'lets exactly the escalation that is shown through: the agent may go on when it asks again',
    sends: { approved: true, raise_once: false },
    asks: 'Let exactly this through',
  });
  addWord(budgets, act, {
    name: 'raise-once',
    description:
      'lets exactly the escalation that is shown through and raises each ceiling it exceeds by as much: nobody else has less',
    sends: { approved: true, raise_once: true },
    asks: 'Let exactly this through, and raise what it exceeds by as much',
  });
  addWord(budgets, act, {
    name: 'deny',
    description: 'refuses the escalation that is shown: nothing is spent',
    sends: { approved: false, raise_once: false },
    asks: 'Refuse exactly this',
  });
}

/** What a person may say of an escalation. */
interface Word {
  readonly name: string;
  readonly description: string;
  readonly sends: { readonly approved: boolean; readonly raise_once: boolean };
  /** The question before it is sent. */
  readonly asks: string;
}

interface WordOptions extends Why {
  readonly yes?: boolean;
  readonly digest?: string;
}

/** The digest that is sent is that of the question as it is shown: under one id it may ask something else by then. */
function addWord(budgets: Command, act: Act, { name, description, sends, asks }: Word): void {
  budgets
    .command(name)
    .description(description)
    .argument('<escalation>', 'escalation id')
    .requiredOption('--reason <text>', 'why, in your words')
    .option('--digest <hex>', 'refuse unless it still asks what has this digest')
    .option('-y, --yes', 'do not ask')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<WordOptions>(async (session, { reason, yes, digest, idempotencyKey }, id = ''): Promise<ExitKind> => {
        const { terminal } = session;
        const accountant = session.service('budgets');
        const found = await accountant.get(escalationPath(id), { tenant: session.tenant });
        // A script reads no table.
        if (!session.isJson || (terminal.isInteractive && yes !== true))
          terminal.note(`${describeEscalation(found)}\n`);
        const action_digest = digestOf(found, digest);
        if (yes !== true && !(await isConfirmed(session, `${asks} (digest ${action_digest.slice(0, 12)}…)? [y/N] `)))
          return 'declined';
        // A token for all tenants does not say whose it is.
        const body = { ...sends, reason, action_digest, ...whose(found) };
        const answer = await accountant.command(escalationPath(id, 'decide'), body, idempotencyKey);
        session.show(answer, () => formatFields(Object.entries(answer)));
        return 'done';
      }),
    );
}

/** Errors: CliProblem(CONFIRMATION_NEEDED) where nobody could be asked. */
async function isConfirmed({ terminal }: Session, question: string): Promise<boolean> {
  if (terminal.isInteractive) return isYes(await terminal.ask(question));
  throw new CliProblem('CONFIRMATION_NEEDED', 'nobody is there to confirm', 'usage', {
    remedy: 'Pass --yes to decide without being asked, and --digest for exactly what was read.',
  });
}

/** Digest of what is shown. Errors: CliProblem(DIGEST_MISMATCH) where another was read. */
function digestOf(found: Doc, read: string | undefined): string {
  const digest = found['action_digest'];
  if (typeof digest === 'string' && (read === undefined || read.toLowerCase() === digest)) return digest;
  throw new CliProblem('DIGEST_MISMATCH', `it asks something else by now: its digest is ${String(digest)}`, 'refused');
}

function addShow(budgets: Command, act: Act): void {
  budgets
    .command('show')
    .description(
      'shows one escalation: what is asked, what the run is for, who decides, and by what its bounds are used',
    )
    .argument('<escalation>', 'escalation id')
    .action(
      act(async (session, _options, id = '') => {
        const accountant = session.service('budgets');
        const [found, { items: uses }] = await Promise.all([
          accountant.get(escalationPath(id), { tenant: session.tenant }),
          accountant.get(escalationPath(id, 'uses'), { tenant: session.tenant }),
        ]);
        session.show({ ...found, uses }, () => [describeEscalation(found), ...describeUses(uses)].join('\n\n'));
      }),
    );
}

/** Text of an escalation. */
export function describeEscalation(found: Doc): string {
  return formatFields([
    ['escalation', found['escalation_id']],
    ['phase', found['phase']],
    ['about', found['about']],
    ['exceeds', exceededIn(found['exceeded'])],
    ['proposes', proposalIn(found['proposal'])],
    ['asks for', debitsIn(found['debits'])],
    ['agent', found['agent_id']],
    ['capability', found['capability']],
    ['tenant', found['tenant']],
    ['run', found['run_id']],
    ['effect', found['effect_key']],
    ...briefFields(found['brief']),
    ['asked by', found['requested_by']],
    ['may not decide', found['parties']],
    ['take care', alike(found['lookalikes'])],
    ['owner', found['owner']],
    ['decide by', instant(found['deadline_at'])],
    ['decided by', found['decided_by']],
    ['reason', found['reason']],
    ...offerFields(found),
    ['digest', found['action_digest']],
  ]);
}

function whose({ tenant }: Doc): { readonly tenant?: string } {
  return typeof tenant === 'string' ? { tenant } : {};
}
