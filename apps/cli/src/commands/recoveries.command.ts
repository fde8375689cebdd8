// recourse recoveries …: what went wrong, what is proposed, and the decision of a person about exactly that.
import { EdgeProblem } from '@recourse/sdk';
import type { Doc, EdgeClient } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { formatFields, formatTable, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import { LIMIT } from './options.js';
import type { Act } from './options.js';
import { describeStep } from './review-item.js';
import { addSeveral } from './several.command.js';
import { addSendAction, pathBelow } from './shapes.js';
import { listSoonest, soonestText } from './soonest.js';
import { STEP_COLUMNS } from './step-columns.js';
import { addStepCommands } from './step-commands.js';
import { addVerdict } from './verdict.js';
import { describeReview } from './reviews.command.js';

const RECOVERY_COLUMNS: readonly Column<Doc>[] = [
  { title: 'RECOVERY', of: (row) => row['recovery_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'PHASE', of: (row) => row['phase'] },
  { title: 'OUTCOME', of: (row) => row['outcome'] },
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'DEADLINE', of: (row) => instant(row['deadline_at']) },
];
/** Steps that are shown with their recovery. */
const STEPS_MAX = 10_000;

const stepPath = pathBelow('/v1/steps');

export function addRecoveries(program: Command, act: Act): void {
  const recoveries = program.command('recoveries').description('recoveries, and the steps that wait for a person');
  recoveries
    .command('list')
    .description('lists recoveries, one per run; with --state, the steps in that state')
    .option('--state <state>', 'steps that wait for a person (open), or in one phase, such as awaiting_approval')
    .option('--run <id>', 'of one run')
    .addOption(LIMIT())
    .action(
      act<{ state?: string; run?: string; limit: number }>(async (session, { state, run, limit }) => {
        const query = { run_id: run, tenant: session.tenant };
        const orchestrator = session.service('recoveries');
        const listed = await (state === undefined
          ? listSoonest(orchestrator, '/v1/recoveries', query, { by: 'deadline_at', limit })
          : orchestrator.list('/v1/reviews', { ...query, state }, limit));
        session.show(listed, () => soonestText(state === undefined ? RECOVERY_COLUMNS : STEP_COLUMNS, listed));
      }),
    );
  recoveries
    .command('show')
    .description('a step as a review item, or a recovery with its steps')
    .argument('<id>', 'id of a step, a recovery or a run')
    .action(
      act(async (session, _options, id) => {
        await showOne(session, id ?? '');
      }),
    );
  addVerdicts(recoveries, act);
  addSeveral(recoveries, act);
  addResolve(recoveries, act);
  addStepCommands(recoveries, act);
}

function addResolve(recoveries: Command, act: Act): void {
  addSendAction<{ readonly resolution: string; readonly evidence: string }>(
    recoveries
      .command('resolve')
      .description("closes an item that is a person's: repaired or corrected by hand, or accepted as it is")
      .argument('<step>', 'step id')
      .addOption(
        new Option('--resolution <resolution>', 'how it was closed')
          .choices(['repaired', 'corrected', 'accepted'])
          .makeOptionMandatory(),
      )
      .option('--evidence <json>', 'what shows it: JSON, or any text', '{}'),
    act,
    {
      service: 'recoveries',
      path: (id) => stepPath(id, 'resolve'),
      body: ({ resolution, evidence }) => ({ resolution, evidence: evidenceOf(evidence) }),
    },
  );
}

function addVerdicts(recoveries: Command, act: Act): void {
  const item = { path: stepPath, shownAt: pathBelow('/v1/reviews'), describe: describeReview, argument: 'step' };
  addVerdict(recoveries, act, 'approve', {
    ...item,
    description: 'agrees to exactly the action that is shown; its digest is sent with the approval',
  });
  addVerdict(recoveries, act, 'deny', {
    ...item,
    description: 'refuses the action that is shown; the mutation goes to a person',
  });
}

/** JSON as it is; any other text as a note. */
function evidenceOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { note: text };
  }
}

async function showOne(session: Session, id: string): Promise<void> {
  const orchestrator = session.service('recoveries');
  const step = await stepOrNull(orchestrator, id, session.tenant);
  if (step !== null) {
    session.show(step, () => describeStep(step, session.clock.now()));
    return;
  }
  const recovery = await recoveryOf(orchestrator, id, session.tenant);
  const { run_id: run, tenant } = recovery;
  const query = { run_id: String(run), tenant: typeof tenant === 'string' ? tenant : session.tenant };
  const steps = await orchestrator.list('/v1/steps', query, STEPS_MAX);
  session.show(
    { recovery, steps: steps.items },
    () =>
      `${formatFields(Object.entries(recovery).map(([name, value]) => [name, name.endsWith('_at') ? instant(value) : value]))}\n\n${formatTable(STEP_COLUMNS, steps.items)}`,
  );
}

/** The recovery of this id, or of the run. Errors: CliProblem(NOT_FOUND, TENANT_AMBIGUOUS). */
async function recoveryOf(orchestrator: EdgeClient, id: string, tenant: string | null): Promise<Doc> {
  for (const name of ['recovery_id', 'run_id']) {
    const { items } = await orchestrator.list('/v1/recoveries', { [name]: id, tenant }, SEVERAL);
    const [found] = items;
    if (items.length > 1)
      throw new CliProblem('TENANT_AMBIGUOUS', `several tenants have a recovery under ${id}`, 'usage', {
        remedy: 'Name whose it is with --tenant <tenant>.',
      });
    if (found !== undefined) return found;
  }
  throw new CliProblem('NOT_FOUND', `neither a step, a recovery nor a run with one is called ${id}`, 'refused');
}

/** One more than there may be. */
const SEVERAL = 2;

async function stepOrNull(orchestrator: EdgeClient, id: string, tenant: string | null): Promise<Doc | null> {
  try {
    return await orchestrator.get(stepPath(id), { tenant });
  } catch (problem) {
    if (problem instanceof EdgeProblem && problem.code === 'NOT_FOUND') return null;
    throw problem;
  }
}
