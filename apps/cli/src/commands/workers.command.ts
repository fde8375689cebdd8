// recourse workers: what is asked of the workers of each adapter, who of them is silent, and whose keys work.
import { docOf, EdgeProblem } from '@recourse/sdk';
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
import { docsOf, formatTable, instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import { REPORT_ROWS_MAX } from './options.js';
import type { Act } from './options.js';
import { addReportAction } from './shapes.js';

const WAITS: readonly Column<Doc>[] = [
  { title: 'ADAPTER', of: (row) => row['adapter'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'ASKED', of: (row) => row['asked'], align: 'right' },
  { title: 'NOT ANSWERED IN TIME', of: (row) => row['silent'], align: 'right' },
  { title: 'OLDEST WAITS SINCE', of: (row) => instant(row['oldest_at']) },
];

const KEYS: readonly Column<Doc>[] = [
  { title: 'KEY', of: (row) => row['key_id'] },
  { title: 'ACTS', of: (row) => (row['acts'] === true ? 'yes' : 'no') },
  { title: 'OBSERVES', of: (row) => (row['observes'] === true ? 'yes' : 'no') },
  { title: 'ADAPTERS', of: (row) => namesOf(row['adapters']) },
  { title: 'TENANTS', of: (row) => namesOf(row['tenants']) },
  { title: 'VALID UNTIL', of: (row) => instant(row['valid_until']) ?? 'it is revoked' },
];

export function addWorkers(program: Command, act: Act): void {
  addReportAction(
    program
      .command('workers')
      .description(
        'what waits for the workers of each adapter, since when, who of them is silent, and whose keys work',
      ),
    act,
    { service: 'recoveries', path: '/v1/workers', text: workersText },
  );
}

function workersText(report: Doc): string {
  const items = docsOf(report['items']);
  const waits =
    items.length === 0
      ? 'Nothing is asked of any worker now.'
      : listText(WAITS, { items, more: report['more'] === true });
  const silent = silentText(silentIn(report));
  const keys = report['keys'];
  const working =
    keys === null
      ? 'Wires are open: nobody signs, so any process may work.'
      : docsOf(keys).length === 0
        ? 'No key of a worker is valid now: recourse keys new'
        : formatTable(KEYS, docsOf(keys));
  return [waits, silent === null ? null : `${silent} ${WHAT_TO_DO}`, working]
    .filter((text) => text !== null)
    .join('\n\n');
}

const WHAT_TO_DO =
  'Look whether a worker of that adapter runs and what its log says; once one does, it looks at what was asked before it acts.';

/** Calls that no worker answered in time, and by which adapters. */
interface Silent {
  readonly calls: number;
  readonly adapters: readonly string[];
}

function silentIn(report: Doc): Silent {
  const silent = docsOf(report['items']).filter((row) => Number(row['silent']) > 0);
  return {
    calls: silent.reduce((sum, row) => sum + Number(row['silent']), 0),
    adapters: [...new Set(silent.map((row) => String(row['adapter'])))],
  };
}

/** Who is silent now; null where nobody is told. Errors: those that are bugs. */
export async function findSilent(session: Session): Promise<Silent | null> {
  try {
    const query = { tenant: session.tenant, limit: String(REPORT_ROWS_MAX) };
    return silentIn(docOf(await session.service('recoveries').get('/v1/workers', query)));
  } catch (problem) {
    if (!(problem instanceof EdgeProblem) && !(problem instanceof CliProblem)) throw problem;
    return null;
  }
}

/** What is said of workers that do not answer; null where all do. Pure. */
export function silentText(silent: Silent | null): string | null {
  if (silent === null || silent.calls === 0) return null;
  const { calls, adapters } = silent;
  return `${countText(calls, 'call was', 'calls were')} not answered in time by the workers of ${adapters.join(', ')}.`;
}

function namesOf(names: unknown): string {
  const all = (Array.isArray(names) ? names : []).map(String);
  return all.includes('*') ? 'all' : all.join(', ');
}
