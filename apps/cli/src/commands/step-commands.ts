// recourse recoveries retry | check | abandon | escalate, and recourse incidents …: what people have done about a step beside agreeing.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { cellText, formatFields, formatTable, instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Session } from '../session.js';
import { IDEMPOTENCY_KEY, LIMIT, positiveInteger } from './options.js';
import type { Act } from './options.js';

const SEVERITIES = ['sev1', 'sev2', 'sev3', 'sev4'] as const;
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

interface Why {
  readonly reason: string;
  readonly idempotencyKey?: string;
}

/** Adds the commands about a step. */
export function addStepCommands(recoveries: Command, act: Act): void {
  const send = async (session: Session, id: string, verb: string, body: object, key?: string): Promise<void> => {
    const answer = await session
      .service('recoveries')
      .command(`/v1/steps/${encodeURIComponent(id)}/${verb}`, body, key);
    session.show(answer, () => formatFields(Object.entries(answer)));
  };
  const command = (name: string, description: string): Command =>
    recoveries
      .command(name)
      .description(description)
      .argument('<step>', 'step id')
      .requiredOption('--reason <text>', 'why, in your words')
      .addOption(IDEMPOTENCY_KEY());
  command('retry', 'tries again what a person was given: same key, reconciled first, agreed to anew').action(
    act<Why>((session, { reason, idempotencyKey }, id = '') => send(session, id, 'retry', { reason }, idempotencyKey)),
  );
  command('abandon', 'gives it up: nothing is called any more').action(
    act<Why>((session, { reason, idempotencyKey }, id = '') =>
      send(session, id, 'abandon', { reason }, idempotencyKey),
    ),
  );
  command(
    'break-glass',
    'agrees in an emergency, in the place of the people the contract asks for: two people, a reason each, for a short time',
  )
    .option('--minutes <n>', 'for how long it is to hold, 60 at the most', positiveInteger, 15)
    .action(
      act<Why & { readonly minutes: number }>(async (session, { minutes, reason, idempotencyKey }, id = '') => {
        await send(
          session,
          id,
          'break-glass',
          { action_digest: await digestOf(session, id), valid_ms: minutes * 60_000, reason },
          idempotencyKey,
        );
      }),
    );
  command(
    'check',
    'has a worker look whether it is undone: after a repair by hand, or because an earlier attempt may have taken effect',
  )
    .addOption(new Option('--purpose <purpose>', 'why').choices(['repair', 'reconcile']).default('repair'))
    .option('--evidence <text>', 'what you have to show')
    .action(
      act<Why & { readonly purpose: string; readonly evidence?: string }>(
        (session, { purpose, evidence, reason, idempotencyKey }, id = '') =>
          send(
            session,
            id,
            'check',
            { purpose, reason, ...(evidence === undefined ? {} : { evidence: { note: evidence } }) },
            idempotencyKey,
          ),
      ),
    );
  command('escalate', 'makes an incident of it')
    .addOption(new Option('--severity <severity>', 'how bad').choices([...SEVERITIES]).makeOptionMandatory())
    .option('--runbook <url>', 'where it is written what to do')
    .action(
      act<Why & { readonly severity: string; readonly runbook?: string }>(
        (session, { severity, runbook, reason, idempotencyKey }, id = '') =>
          send(
            session,
            id,
            'escalate',
            { severity, reason, ...(runbook === undefined ? {} : { runbook }) },
            idempotencyKey,
          ),
      ),
    );
}

/** The digest that is sent is that of the step as it stands: whoever breaks the glass has looked at it. */
async function digestOf(session: Session, id: string): Promise<string> {
  const step = await session.service('recoveries').get(`/v1/steps/${encodeURIComponent(id)}`);
  return cellText(step['action_digest']);
}

/** Adds `recourse incidents`. */
export function addIncidents(program: Command, act: Act): void {
  const incidents = program
    .command('incidents')
    .description('incidents people made of steps, each with what happened in its order');
  incidents
    .command('list')
    .description('those that are open, or ended')
    .addOption(new Option('--state <state>', 'which').choices(['open', 'closed']).default('open'))
    .addOption(new Option('--severity <severity>', 'of one severity').choices([...SEVERITIES]))
    .option('--run <id>', 'of one run')
    .addOption(LIMIT())
    .action(
      act<{ state: string; severity?: string; run?: string; limit: number }>(
        async (session, { state, severity, run, limit }) => {
          const listed = await session
            .service('recoveries')
            .list('/v1/incidents', { state, severity, run_id: run, tenant: session.tenant }, limit);
          session.show(listed, () => listText(INCIDENT_COLUMNS, listed));
        },
      ),
    );
  incidents
    .command('show')
    .description('one incident and its timeline')
    .argument('<incident>', 'incident id')
    .action(
      act(async (session, _options, id = '') => {
        const incident = await session.service('recoveries').get(pathOf(id));
        session.show(incident, () => describeIncident(incident));
      }),
    );
  incidents
    .command('close')
    .description('ends an incident')
    .argument('<incident>', 'incident id')
    .requiredOption('--summary <text>', 'what it was, and what was done')
    .requiredOption('--reason <text>', 'why it is over')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<Why & { readonly summary: string }>(async (session, { summary, reason, idempotencyKey }, id = '') => {
        const answer = await session
          .service('recoveries')
          .command(`${pathOf(id)}/close`, { summary: { note: summary }, reason }, idempotencyKey);
        session.show(answer, () => formatFields(Object.entries(answer)));
      }),
    );
}

function describeIncident(incident: Doc): string {
  const [opened, closed] = [docOf(incident['opened']), docOf(incident['closed'])];
  const timeline = Array.isArray(incident['timeline']) ? incident['timeline'].map(docOf) : [];
  return `${formatFields([
    ['incident', incident['incident_id']],
    ['severity', incident['severity']],
    ['state', incident['phase']],
    ['owner', incident['owner']],
    ['deadline', instant(incident['deadline_at'])],
    ['runbook', incident['runbook']],
    ['run', incident['run_id']],
    ['step', incident['step_id']],
    ['mutation', incident['mutation_id']],
    ['opened by', opened['by']],
    ['reason', opened['reason']],
    ['ended by', closed['by']],
    ['end', closed['reason']],
  ])}\n\n${formatTable(TIMELINE_COLUMNS, timeline)}`;
}

function pathOf(id: string): string {
  return `/v1/incidents/${encodeURIComponent(id)}`;
}
