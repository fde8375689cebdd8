// recourse recoveries break-glass, the verbs about a step that schemas tell of, and recourse incidents …
import { SEVERITY_VALUES } from '@recourse/messages';
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { briefFields } from '../output/brief.js';
import { offerFields } from '../output/offers.js';
import { formatFields, formatTable, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { positiveInteger } from './options.js';
import type { Act } from './options.js';
import { describeReview } from './reviews.command.js';
import { addListAction, addShowAction, pathBelow } from './shapes.js';
import { addVerbs } from './verbs.js';
import { addVerdict } from './verdict.js';

const INCIDENT_COLUMNS: readonly Column<Doc>[] = [
  { title: 'INCIDENT', of: (row) => row['incident_id'] },
  { title: 'SEVERITY', of: (row) => row['severity'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'STEP', of: (row) => row['step_id'] },
  { title: 'STATE', of: (row) => row['phase'] },
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'DEADLINE', of: (row) => instant(row['deadline_at']) },
];
const TIMELINE_COLUMNS: readonly Column<Doc>[] = [
  { title: 'WHEN', of: (row) => instant(row['at']) },
  { title: 'WHAT', of: (row) => row['what'] },
  { title: 'WHO', of: (row) => row['who'] },
  { title: 'DETAIL', of: (row) => row['detail'] },
];

const stepPath = pathBelow('/v1/steps');
const incidentPath = pathBelow('/v1/incidents');

/** Adds the commands about a step. */
export function addStepCommands(recoveries: Command, act: Act): void {
  addVerbs(recoveries, act, 'recoveries');
  addBreakGlass(recoveries, act);
}

function addBreakGlass(recoveries: Command, act: Act): void {
  addVerdict(recoveries, act, 'break-glass', {
    path: stepPath,
    shownAt: pathBelow('/v1/reviews'),
    describe: describeReview,
    argument: 'step',
    description:
      'approves exactly the action that is shown in an emergency, in place of the people the contract asks for: two people, a reason each, for a short time',
  }).option('--minutes <n>', 'for how long it is to hold, 60 at the most', positiveInteger, 15);
}

/** Adds `recourse incidents`. */
export function addIncidents(program: Command, act: Act): void {
  const incidents = program
    .command('incidents')
    .description('incidents that people made of steps, each with its timeline');
  addListAction<{ state: string; severity?: string; run?: string }>(
    incidents
      .command('list')
      .description('those that are open, or ended')
      .addOption(new Option('--state <state>', 'which').choices(['open', 'closed']).default('open'))
      .addOption(new Option('--severity <severity>', 'of one severity').choices(SEVERITY_VALUES))
      .option('--run <id>', 'of one run'),
    act,
    {
      service: 'recoveries',
      path: '/v1/incidents',
      by: 'deadline_at',
      columns: INCIDENT_COLUMNS,
      query: ({ state, severity, run }) => ({ state, severity, run_id: run }),
    },
  );
  addShowAction(
    incidents.command('show').description('shows one incident and its timeline').argument('<incident>', 'incident id'),
    act,
    { service: 'recoveries', path: incidentPath, text: describeIncident },
  );
  addVerbs(incidents, act, 'recoveries');
}

/** Text of an incident. */
export function describeIncident(incident: Doc): string {
  const [opened, closed] = [docOf(incident['opened']), docOf(incident['closed'])];
  const timeline = Array.isArray(incident['timeline']) ? incident['timeline'].map(docOf) : [];
  return `${formatFields([
    ['incident', incident['incident_id']],
    ['severity', incident['severity']],
    ['state', incident['phase']],
    ['owner', incident['owner']],
    ['deadline', instant(incident['deadline_at'])],
    ['runbook of it', incident['runbook']],
    ['run', incident['run_id']],
    ['step', incident['step_id']],
    ['mutation', incident['mutation_id']],
    ...briefFields(incident['brief']),
    ['opened by', opened['by']],
    ['reason', opened['reason']],
    ['ended by', closed['by']],
    ['end', closed['reason']],
    ...offerFields(incident),
  ])}\n\n${formatTable(TIMELINE_COLUMNS, timeline)}`;
}
