// recourse consumers, deliveries, rolled-back: who hears of rollbacks and how soon, who has not answered, what is rolled back.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import { duration, rowsOf } from '../reports/exposure.js';
import type { Act } from './options.js';
import { addListAction, addReportAction } from './shapes.js';
import { addVerbs } from './verbs.js';

const CONSUMERS: readonly Column<Doc>[] = [
  { title: 'CONSUMER', of: (row) => row['consumer'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'MODE', of: (row) => row['mode'] },
  { title: 'DUE', of: (row) => row['due'], align: 'right' },
  { title: 'ANSWERED', of: (row) => row['acknowledged'], align: 'right' },
  { title: 'LATE', of: (row) => row['late'], align: 'right' },
  { title: 'SILENT', of: (row) => row['overdue'], align: 'right' },
  { title: 'P50', of: (row) => duration(row['p50_ms']), align: 'right' },
  { title: 'P99', of: (row) => duration(row['p99_ms']), align: 'right' },
  { title: 'USERS SEE AFTER', of: (row) => duration(row['commit_to_user_ms']), align: 'right' },
  { title: 'OUT TOO LATE', of: (row) => row['late_emissions'], align: 'right' },
  { title: 'FITS', of: (row) => fitText(row) },
];

const DELIVERIES: readonly Column<Doc>[] = [
  { title: 'DELIVERY', of: (row) => row['delivery_id'] },
  { title: 'CONSUMER', of: (row) => row['consumer'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'COMMIT', of: (row) => row['mutation_id'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'MODE', of: (row) => row['mode'] },
  { title: 'PHASE', of: (row) => row['phase'] },
  { title: 'ROLLED BACK', of: (row) => instant(row['rolled_back_at']) },
  { title: 'ANSWERED AFTER', of: (row) => duration(docOf(row['answer'])['after_ms']), align: 'right' },
  { title: 'REFUSED', of: (row) => refusedText(docOf(row['refused'])) },
  { title: 'OWNER', of: (row) => (row['phase'] === 'acknowledged' ? null : row['owner']) },
  { title: 'BY', of: (row) => (row['phase'] === 'acknowledged' ? null : instant(row['deadline_at'])) },
];

const ROLLED_BACK: readonly Column<Doc>[] = [
  { title: 'COMMIT', of: (row) => row['commit_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'AGENT', of: (row) => row['agent_id'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'SUBJECT', of: (row) => row['subject_ref'] },
  { title: 'ROLLBACK', of: (row) => row['rollback_id'] },
  { title: 'AT', of: (row) => instant(row['rolled_back_at']) },
  { title: 'WHO IS TOLD', of: (row) => row['consumers'] },
];

export function addConsumers(program: Command, act: Act): void {
  addReportAction<{ consumer?: string }>(
    program
      .command('consumers')
      .description(
        'shows who hears of rollbacks: answers, silence, delay, what went out too late, and whether the mode fits',
      )
      .option('--consumer <name>', 'of one consumer'),
    act,
    {
      service: 'ledger',
      path: '/v1/reports/consumers',
      query: ({ consumer }) => ({ consumer }),
      text: (report) => listText(CONSUMERS, rowsOf(report)),
      note: (count, { consumer }) => (count === 0 ? unheardOf(consumer) : null),
    },
  );
  addDeliveries(program, act);
  addReportAction<{ scope?: string; after?: string }>(
    program
      .command('rolled-back')
      .description('lists commits that are rolled back, in a scope and after a position')
      .option('--scope <scope>', 'prefix of tenant/agent/run/subject; * stands for one part')
      .option('--after <position>', 'what the call before ended with'),
    act,
    {
      service: 'ledger',
      path: '/v1/rolled-back',
      query: ({ scope, after }, tenant) => ({ scope: scope ?? tenant, after, tenant: null }),
      text: (report) => `${listText(ROLLED_BACK, rowsOf(report))}\n\nnext time: --after ${String(report['after'])}`,
    },
  );
}

function addDeliveries(program: Command, act: Act): void {
  const deliveries = program
    .command('deliveries')
    .description('lists who had to hear of which rollback, and whether they answered');
  addListAction<{ consumer?: string; phase?: string; run?: string; mutation?: string }>(
    deliveries
      .option('--consumer <name>', 'of one consumer')
      .addOption(
        new Option('--phase <phase>', 'only these').choices(['waiting', 'overdue', 'reviewed', 'acknowledged']),
      )
      .option('--run <id>', 'of one run')
      .option('--mutation <id>', 'of one commit'),
    act,
    {
      service: 'ledger',
      path: '/v1/deliveries',
      by: 'rolled_back_at',
      grows: true,
      columns: DELIVERIES,
      query: ({ consumer, phase, run, mutation }) => ({ consumer, phase, run_id: run, mutation_id: mutation }),
      note: (count, { consumer, phase, run, mutation }) =>
        count === 0 && [phase, run, mutation].every((one) => one === undefined) ? unheardOf(consumer) : null,
    },
  );
  addVerbs(deliveries, act, 'ledger');
}

/** A mistyped name looks like a consumer that owes nothing. */
function unheardOf(consumer: string | undefined): string | null {
  return consumer === undefined
    ? null
    : `nothing is due or was due of a consumer named ${consumer}: recourse entry list subscription shows the names`;
}

/** Why what was said last in its name is no answer. */
function refusedText({ code, detail }: Doc): string | null {
  return typeof code === 'string' ? `${code}: ${String(detail)}` : null;
}

function fitText(row: Doc): string | null {
  if (row['misfit'] !== true && Number(row['acknowledged']) === 0)
    return Number(row['due']) > 0 ? 'no answer yet' : null;
  if (row['misfit'] !== true) return 'yes';
  const [why, advice] = [String(row['why']), row['advice']];
  return typeof advice === 'string' ? `no: ${why}; subscribe with mode ${advice}` : `no: ${why}`;
}
