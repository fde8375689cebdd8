// recourse budgets …
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { minorUnits } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Act } from './options.js';
import { addListAction } from './shapes.js';

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
  addListAction<{ scope?: string; scopeId?: string }>(
    budgets
      .command('list')
      .description('lists budgets and how much of each is used')
      .option('--scope <scope>', 'run or tenant')
      .option('--scope-id <id>', 'of one run or tenant'),
    act,
    {
      service: 'budgets',
      path: '/v1/budgets',
      columns: COLUMNS,
      query: ({ scope, scopeId }) => ({ scope, scope_id: scopeId }),
    },
  );
}
