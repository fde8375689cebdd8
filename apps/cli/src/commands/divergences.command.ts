// recourse lineage divergences and review: runtimes that keep what fell, and a person's word on what was done about it.
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Act } from './options.js';
import { addListAction, addSendAction, pathBelow } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'DIVERGENCE', of: (row) => row['divergence_id'] },
  { title: 'RUNTIME', of: (row) => row['runtime'] },
  { title: 'KEEPS', of: (row) => row['contaminated'], align: 'right' },
  { title: 'LAST COMPARISON', of: (row) => row['reconciliation_id'] },
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'UNTIL', of: (row) => instant(row['deadline_at']) },
];

export function addDivergences(lineage: Command, act: Act): void {
  addListAction(
    lineage.command('divergences').description('lists runtimes that keep what fell, until a person has dealt with it'),
    act,
    { service: 'ledger', path: '/v1/reconciliations/divergences', by: 'deadline_at', columns: COLUMNS },
  );
  addSendAction(
    lineage
      .command('review')
      .description('says what was done about what a runtime kept, which ends the question')
      .argument('<divergence>', 'divergence id'),
    act,
    { service: 'ledger', path: (id) => pathBelow('/v1/reconciliations/divergences')(id, 'review') },
  );
}
