// recourse provision --check: a cluster beside what it should be.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { viewRegistry } from '@recourse/kafka';
import { clusterPlanIn, differencesOf, lookAtCluster } from '@recourse/service/provision';
import type { ClusterPlan, Difference } from '@recourse/service/provision';
import type { Command } from 'commander';
import { known, OPERATOR } from '../config.js';
import { kafkaAs } from '../kafka.js';
import { formatTable } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { ExitKind } from '../problem.js';
import type { Session } from '../session.js';
import type { Act } from './options.js';

/** Where a development stack leaves what its cluster should be, in its data directory. */
const PLAN_FILE = 'cluster.json';

interface ProvisionOptions {
  readonly plan?: string;
}

export function addProvision(program: Command, act: Act): void {
  program
    .command('provision')
    .description('compares a cluster with what it should be: topics, settings, rules of access, schemas')
    .requiredOption('--check', 'compare, and change nothing')
    .option('--plan <file>', `what it should be, as JSON; default: ${PLAN_FILE} of the development stack`)
    .action(act<ProvisionOptions>((session, { plan }) => check(session, planOf(session, plan))));
}

async function check(session: Session, plan: ClusterPlan): Promise<ExitKind> {
  const { settings } = session;
  const facts = await lookAtCluster(plan, {
    kafka: kafkaAs(settings, OPERATOR),
    registry: viewRegistry(known(settings.registryUrl, 'where the schema registry is', '--registry')),
  });
  const differences = differencesOf(plan, facts);
  const counts = { topics: facts.topics.length, rules: facts.access?.length ?? null, subjects: facts.subjects.size };
  session.show({ ok: differences.length === 0, ...counts, differences }, () => describe(differences, counts));
  return differences.length === 0 ? 'done' : 'found';
}

interface Counts {
  readonly topics: number;
  /** Null: the cluster asks nobody who they are, or is not meant to. */
  readonly rules: number | null;
  readonly subjects: number;
}

function describe(differences: readonly Difference[], { topics, rules, subjects }: Counts): string {
  const access = rules === null ? 'nobody is asked who they are' : `${String(rules)} rules of access`;
  const seen = `${String(topics)} topics, ${access}, ${String(subjects)} subjects`;
  if (differences.length === 0) return `As planned: ${seen}.`;
  const columns = (['code', 'where', 'planned', 'found'] as const).map((name) => ({
    title: name,
    of: (row: Difference) => row[name],
  }));
  const mends = new Map(differences.map(({ code, mend }) => [code, mend]));
  return [
    formatTable(columns, differences),
    '',
    `${String(differences.length)} differ, of ${seen}. What to do:`,
    ...[...mends].map(([code, mend]) => `  ${code}: ${mend}`),
  ].join('\n');
}

/** Errors: CliProblem(ADDRESS_UNKNOWN, FILE_UNREADABLE). */
function planOf({ settings, folder }: Session, given: string | undefined): ClusterPlan {
  const kept = settings.dataDir === null ? null : join(settings.dataDir, PLAN_FILE);
  const file = given === undefined ? known(kept, 'what the cluster should be', '--plan') : resolve(folder, given);
  try {
    return clusterPlanIn(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new CliProblem('FILE_UNREADABLE', `${file} holds no plan of a cluster`, 'usage', {
      cause,
      remedy: 'Write it as docs/guides/secure-stack.md shows, or name the data directory of a development stack.',
    });
  }
}
