// recourse items: everything that waits for a person, and the command that ends it.
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Act } from './options.js';
import { addListAction } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'DEADLINE', of: (row) => `${row['is_overdue'] === true ? '! ' : ''}${instant(row['deadline_at']) ?? ''}` },
  { title: 'KIND', of: (row) => row['kind'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'REASON', of: (row) => row['reason'] },
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'RUNBOOK', of: (row) => row['runbook'] },
  { title: 'END IT WITH', of: (row) => row['way_out'] },
];

export function addItems(program: Command, act: Act): void {
  addListAction<{ kind?: string }>(
    program
      .command('items')
      .description('everything that waits for a person, the soonest deadline first, with the command that ends it')
      .option('--kind <kind>', 'of one kind, such as approval, manual, exposure or execution'),
    act,
    { service: 'notifier', path: '/v1/items', columns: COLUMNS, query: ({ kind }) => ({ kind }) },
  );
}
