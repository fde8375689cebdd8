// recourse contracts …
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { docOf, queryText } from '../http.js';
import type { Doc } from '../http.js';
import { formatFields, formatTable, instant, span } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem } from '../problem.js';
import { IDEMPOTENCY_KEY, LIMIT, listText, positiveInteger } from './options.js';
import type { Act } from './options.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'NAME', of: (row) => row['name'] },
  { title: 'VERSION', of: (row) => row['version'], align: 'right' },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'CLASS', of: (row) => docOf(row['contract'])['reversal_class'] },
  { title: 'IMPACT', of: (row) => docOf(row['contract'])['impact'] },
  { title: 'WINDOW', of: (row) => span(docOf(row['contract'])['reversal_window_ms']) },
  { title: 'STATE', of: (row) => (row['retired'] === true ? 'retired' : 'stands') },
  { title: 'REGISTERED', of: (row) => instant(row['registered_at']) },
];

export function addContracts(program: Command, act: Act): void {
  const contracts = program.command('contracts').description('reversal contracts: what a capability does and how it is undone');
  contracts.command('list').description('contracts of the tenant and those for all')
    .option('--name <name>', 'versions of one capability').option('--retired', 'retired ones instead of those that stand').addOption(LIMIT())
    .action(act<{ name?: string; retired?: boolean; limit: number }>(async (session, { name, retired, limit }) => {
      const listed = await session.service('contracts').list('v1/contracts', { name, retired: retired === true ? 'true' : 'false', tenant: session.tenant ?? undefined }, limit);
      session.show(listed, () => listText(COLUMNS, listed));
    }));
  contracts.command('show').description('one contract, its newest version unless another is named').argument('<name>', 'capability, such as payments.issue_refund')
    .option('--contract-version <n>', 'version', positiveInteger)
    .action(act<{ contractVersion?: number }>(async (session, { contractVersion }, name) => {
      const query = queryText({ version: contractVersion?.toString(), tenant: session.tenant ?? undefined });
      const found = await session.service('contracts').get(`v1/contracts/${encodeURIComponent(name ?? '')}?${query}`);
      session.show(found, () => describe(found));
    }));
  contracts.command('register').description('registers a contract or a new version of one; everything wrong with it is listed at once').argument('<file>', 'the contract as JSON')
    .addOption(IDEMPOTENCY_KEY())
    .action(act<{ idempotencyKey?: string }>(async (session, { idempotencyKey }, file) => {
      const answer = await session.service('contracts').command('v1/contracts', readContract(resolve(session.folder, file ?? '')), idempotencyKey);
      session.show(answer, () => formatFields(Object.entries(answer)));
    }));
}

function describe(found: Doc): string {
  const { name, version, tenant, digest, registered_by, registered_at, retired, contract } = found;
  const head = formatFields([
    ['name', name], ['version', version], ['tenant', tenant], ['digest', digest], ['registered', `${String(instant(registered_at))} by ${String(registered_by)}`], ['state', retired === true ? 'retired' : 'stands'],
  ]);
  return `${head}\n\n${formatTable([{ title: 'TERM', of: ([term]) => term }, { title: 'VALUE', of: ([, value]) => value }], Object.entries(docOf(contract)))}`;
}

function readContract(file: string): object {
  try {
    const contract: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (typeof contract === 'object' && contract !== null) return contract;
    throw new TypeError('it is no JSON object');
  } catch (cause) {
    throw new CliProblem('FILE_UNREADABLE', `${file}: ${cause instanceof Error ? cause.message : String(cause)}`, 'usage', { cause, remedy: 'Name a file with one contract as a JSON object.' });
  }
}
