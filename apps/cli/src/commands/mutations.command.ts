// recourse mutations …
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { describeHorizon, horizonOf } from '../mutations/horizon.js';
import { describeMutation } from '../mutations/mutation-text.js';
import { instant, money } from '../output/table.js';
import type { Column } from '../output/table.js';
import { LIMIT, positiveInteger } from './options.js';
import type { Act } from './options.js';
import { addListAction, addSendAction, addShowAction, pathBelow } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'MUTATION', of: (row) => row['mutation_id'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'SUBJECT', of: (row) => row['subject_ref'] },
  { title: 'VALUE', of: (row) => money(docOf(row['execution'])['value']) },
  { title: 'RECOVERABILITY', of: (row) => row['recoverability'] },
  { title: 'EXPIRES', of: (row) => instant(docOf(row['ref'])['reversal_expires_at']) },
];

const COMPENSATION_COLUMNS: readonly Column<Doc>[] = [
  { title: 'COMPENSATION', of: (row) => row['compensation_id'] },
  { title: 'REVERSES', of: (row) => row['reverses_mutation_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'CONTRACT', of: (row) => row['contract_version'] ?? 'none' },
  { title: 'VALUE', of: (row) => money(row['value']) },
  { title: 'EXECUTION', of: (row) => row['execution_state'] },
  { title: 'REASON', of: (row) => row['reason'] },
];

interface ListOptions {
  readonly run?: string;
  readonly state?: string;
  readonly execution?: string;
  readonly capability?: string;
  readonly subject?: string;
}

const MINUTE_MS = 60_000;

export function addMutations(program: Command, act: Act): void {
  const mutations = program
    .command('mutations')
    .description('recorded effects on the outside world and whether they can be undone');
  addListAction<ListOptions>(
    mutations
      .command('list')
      .description('lists mutations with their current state')
      .option('--run <id>', 'of one run')
      .option('--state <state>', 'in one recoverability state, such as reversal_available')
      .option('--capability <name>', 'of one capability')
      .option('--subject <ref>', 'about one subject')
      .option('--execution <state>', 'in one execution state, such as uncertain'),
    act,
    {
      service: 'ledger',
      path: '/v1/mutations',
      columns: COLUMNS,
      query: ({ run, state, execution, capability, subject }) => ({
        run_id: run,
        state,
        execution,
        capability,
        subject,
      }),
    },
  );
  addShowAction(
    mutations
      .command('show')
      .description('shows one mutation: what was done, how it is undone, its states')
      .argument('<id>', 'mutation id'),
    act,
    { service: 'ledger', path: pathBelow('/v1/mutations'), text: describeMutation },
  );
  addCompensations(mutations, act);
  addSettle(mutations, act);
  addReconcile(mutations, act);
  addHorizon(mutations, act);
}

function addCompensations(mutations: Command, act: Act): void {
  addListAction<Pick<ListOptions, 'run' | 'execution' | 'capability'> & { readonly of?: string }>(
    mutations
      .command('compensations')
      .description('lists what was executed to undo effects: each under its own contract, with its own value')
      .option('--run <id>', 'of one run')
      .option('--of <mutation>', 'of one mutation')
      .option('--capability <name>', 'by one capability')
      .option('--execution <state>', 'in one execution state, such as uncertain'),
    act,
    {
      service: 'ledger',
      path: '/v1/compensations',
      columns: COMPENSATION_COLUMNS,
      query: ({ run, of, execution, capability }) => ({ run_id: run, mutation_id: of, execution, capability }),
    },
  );
}

function addReconcile(mutations: Command, act: Act): void {
  addSendAction(
    mutations
      .command('reconcile')
      .description('has a worker look once more how an execution ended that people are asked about')
      .argument('<mutation>', 'mutation id'),
    act,
    { service: 'ledger', path: (id) => pathBelow('/v1/mutations')(id, 'reconcile') },
  );
}

function addSettle(mutations: Command, act: Act): void {
  addSendAction<{ readonly answer: string }>(
    mutations
      .command('settle')
      .description('ends what waits for people about an effect: how it ended, or what becomes of it')
      .argument('<mutation>', 'mutation id')
      .addOption(
        new Option('--answer <answer>', 'how it ended: took_effect, not_done; what becomes of it: accepted, repaired')
          .choices(['took_effect', 'not_done', 'accepted', 'repaired'])
          .makeOptionMandatory(),
      ),
    act,
    {
      service: 'ledger',
      path: (id) => pathBelow('/v1/mutations')(id, 'settle'),
      body: ({ answer }) => ({ settled_as: answer }),
    },
  );
}

function addHorizon(mutations: Command, act: Act): void {
  mutations
    .command('horizon')
    .description('shows the windows that close next, and the money that can be recovered until then')
    .option('--within <minutes>', 'only what closes within so many minutes', positiveInteger)
    .option('--capability <name>', 'of one capability')
    .addOption(LIMIT())
    .action(
      act<{ within?: number; capability?: string; limit: number }>(async (session, { within, capability, limit }) => {
        const query = {
          within_ms: within === undefined ? undefined : String(within * MINUTE_MS),
          capability,
          tenant: session.tenant,
        };
        const ledger = session.service('ledger');
        const first = await ledger.get('/v1/horizon', { ...query, limit: '1' });
        const horizon = horizonOf(first, await ledger.list('/v1/horizon', query, limit));
        session.show(horizon, () => describeHorizon(horizon));
      }),
    );
}
