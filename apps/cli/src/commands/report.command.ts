// recourse report …: what stands exposed and what recovery cost, which tools end with people, and what work was worth.
import type { Doc } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { formatTable, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import { describeExposure, exposureOf, percent, rowsOf } from '../reports/exposure.js';
import { csvOfOutcomes, describeOutcomes } from '../reports/outcomes.js';
import { manualOf } from '../reports/manual.js';
import type { ManualReport } from '../reports/manual.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import { epochMs, REPORT_LIMIT, REPORT_ROWS_MAX } from './options.js';
import type { Act } from './options.js';
import { addReportAction } from './shapes.js';

const MANUAL_COLUMNS: readonly Column<Doc>[] = [
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'OF', of: (row) => row['of'] },
  { title: 'REASON', of: (row) => row['reason'] },
  { title: 'TIMES', of: (row) => row['times'], align: 'right' },
  { title: 'OF ENDED', of: (row) => row['ended'], align: 'right' },
  { title: 'PART', of: (row) => percent(row['share']), align: 'right' },
  { title: 'PROVABLE', of: (row) => (row['is_unprovable'] === true ? 'no' : 'yes') },
];
const POINTED_COLUMNS: readonly Column<Doc>[] = [
  { title: 'OFTEN NOT PROVABLE', of: (row) => row['capability'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'OF', of: (row) => row['of'] },
  { title: 'TIMES', of: (row) => row['unprovable'], align: 'right' },
  { title: 'OF ENDED', of: (row) => row['ended'], align: 'right' },
  { title: 'PART', of: (row) => percent(row['share']), align: 'right' },
];
/** Contracts that are looked through for what they declare. */
const CONTRACTS_MAX = 10_000;

const ROLLBACK_COLUMNS: readonly Column<Doc>[] = [
  { title: 'OF', of: (row) => row['name'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'ROLLBACKS', of: (row) => row['rollbacks'], align: 'right' },
  { title: 'COMPENSATED', of: (row) => row['compensated'], align: 'right' },
  { title: 'MANUAL', of: (row) => row['manual'], align: 'right' },
  { title: 'RUNS', of: (row) => row['runs'], align: 'right' },
];

interface ReportOptions {
  readonly capability?: string;
  readonly limit: number;
}

export function addReport(program: Command, act: Act): void {
  const report = program
    .command('report')
    .description('exposure, recovery cost, what ends with people, and what work was worth');
  report
    .command('exposure')
    .description(
      'shows what is open, past reversal or uncertain, what its recovery costs at most, and how long recoveries took',
    )
    .option('--capability <name>', 'of one capability')
    .addOption(REPORT_LIMIT())
    .action(
      act<ReportOptions>(async (session, { capability, limit }) => {
        await showExposure(session, capability, limit);
      }),
    );
  addCounts(report, act);
  addOutcomes(report, act);
}

interface OutcomeOptions {
  readonly workflow?: string;
  readonly intent?: string;
  readonly release?: string;
  readonly from?: number;
  readonly to?: number;
  readonly csv?: true;
  readonly limit: number;
}

function addOutcomes(report: Command, act: Act): void {
  report
    .command('outcomes')
    .description(
      'shows what work cost and what came of it, per workflow, intent and version: cost per trusted outcome, ratios, results, and the cost of recoveries',
    )
    .option('--workflow <id>', 'of one workflow')
    .option('--intent <intent>', 'of one intent')
    .option('--release <version>', 'of one version of the agent')
    .option('--from <instant>', 'ended at or after it, such as 2030-05-01T00:00:00Z', epochMs)
    .option('--to <instant>', 'ended before it', epochMs)
    .option('--csv', 'comma-separated values, for a spreadsheet')
    .addOption(REPORT_LIMIT())
    .action(
      act<OutcomeOptions>(async (session, { workflow, intent, release, from, to, csv, limit }) => {
        const told = await session.service('budgets').get('/v1/reports/outcomes', {
          workflow_id: workflow,
          intent,
          release,
          from: from?.toString(),
          to: to?.toString(),
          tenant: session.tenant,
          limit: String(limit),
        });
        session.show(told, () => (csv === true ? csvOfOutcomes(told) : describeOutcomes(told)));
        return csv === true && !session.isJson ? endOfSheet(session, told) : 'done';
      }),
    );
}

/** A spreadsheet has no line for what it lacks. */
function endOfSheet({ terminal }: Session, told: Doc): ExitKind {
  const { items, more } = rowsOf(told);
  if (!more) return 'done';
  terminal.note(
    `${String(items.length)} groups are in it, there are more: raise --limit, up to ${String(REPORT_ROWS_MAX)}, or narrow what is asked for`,
  );
  return 'unproved';
}

function addCounts(report: Command, act: Act): void {
  report
    .command('manual')
    .description(
      'shows why actions and their recoveries end with people: tools by reason, and those whose outcomes often cannot be proven',
    )
    .option('--capability <name>', 'of one capability')
    .addOption(REPORT_LIMIT())
    .action(
      act<ReportOptions>(async (session, { capability, limit }) => {
        await showManual(session, capability, limit);
      }),
    );
  addReportAction<{ by: string }>(
    report
      .command('rollbacks')
      .description('counts rollbacks by agent, by policy bundle, or by source of the trigger; the most frequent first')
      .addOption(
        new Option('--by <group>', 'what they are counted by').choices(['agent', 'policy', 'source']).default('source'),
      ),
    act,
    {
      service: 'ledger',
      path: '/v1/reports/rollbacks',
      query: ({ by }) => ({ by }),
      text: (told) => listText(ROLLBACK_COLUMNS, rowsOf(told)),
    },
  );
}

async function showExposure(session: Session, capability: string | undefined, limit: number): Promise<void> {
  const { tenant } = session;
  const query = { capability, tenant, limit: String(limit) };
  const [ledger, recoveries, { items: contracts }] = await Promise.all([
    session.service('ledger').get('/v1/reports/exposure', query),
    session.service('recoveries').get('/v1/reports/recoveries', query),
    session.service('contracts').list('/v1/contracts', { name: capability, tenant }, CONTRACTS_MAX),
  ]);
  const told = exposureOf({ ledger, recoveries, contracts });
  session.show(told, () => describeExposure(told));
}

/** What agents did lands with people in the ledger, its recovery in the orchestrator: one ranking. */
async function showManual(session: Session, capability: string | undefined, limit: number): Promise<void> {
  const query = { capability, tenant: session.tenant, limit: String(limit) };
  const [actions, recoveries] = await Promise.all([
    session.service('ledger').get('/v1/reports/manual-reasons', query),
    session.service('recoveries').get('/v1/reports/manual-reasons', query),
  ]);
  const told = manualOf({ actions, recoveries });
  session.show(told, () => describeManual(told));
}

/** The ranking, and below it the tools that are pointed out. */
function describeManual({ pointed_out: pointed, ...ranked }: ManualReport): string {
  const ranking = listText(MANUAL_COLUMNS, ranked);
  return pointed.length > 0 ? `${ranking}\n\n${formatTable(POINTED_COLUMNS, pointed)}` : ranking;
}
