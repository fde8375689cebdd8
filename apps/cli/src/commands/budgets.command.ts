// recourse budgets …
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { listText, minorUnits } from '../output/table.js';
import type { Column } from '../output/table.js';
import { LIMIT } from './options.js';
import type { Act } from './options.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'SCOPE', of: (row) => row['scope'] },
  { title: 'OF', of: (row) => row['scope_id'] },
  { title: 'USED', of: (row) => minorUnits(row['used_minor'], row['currency']), align: 'right' },
  { title: 'CEILING', of: (row) => minorUnits(row['ceiling_minor'], row['currency']) ?? 'none', align: 'right' },
  { title: 'STATE', of: (row) => (row['overrun'] === true ? 'overrun' : 'within') },
];

export function addBudgets(program: Command, act: Act): void {
  const budgets = program.command('budgets').description('what runs and tenants may spend and have in use');
  budgets
    .command('list')
    .description('budgets and what is used of them')
    .option('--scope <scope>', 'run or tenant')
    .option('--scope-id <id>', 'of one run or tenant')
    .addOption(LIMIT())
    .action(
      act<{ scope?: string; scopeId?: string; limit: number }>(async (session, { scope, scopeId, limit }) => {
        const listed = await session
          .service('budgets')
          .list('/v1/budgets', { scope, scope_id: scopeId, tenant: session.tenant }, limit);
        session.show(listed, () => listText(COLUMNS, listed));
      }),
    );
}
