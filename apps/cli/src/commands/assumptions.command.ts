// recourse assumptions …
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Act } from './options.js';
import { addListAction } from './shapes.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'REF', of: (row) => row['ref'] },
  { title: 'RUN', of: (row) => row['run_id'] ?? 'all' },
  { title: 'STANDS', of: (row) => row['verdict'] },
  { title: 'SAYS', of: (row) => row['source'] },
  { title: 'STATED', of: (row) => instant(row['stated_at']) },
  { title: 'DISPUTED SINCE', of: (row) => instant(row['disputed_since']) },
  { title: 'SOURCES', of: sidesText },
];

export function addAssumptions(program: Command, act: Act): void {
  const assumptions = program.command('assumptions').description('what sources say of the refs that commits rely on');
  addListAction<{ ref?: string; run?: string; disputed?: boolean }>(
    assumptions
      .command('list')
      .description('what stands for each ref; the newest statement of all sources does')
      .option('--ref <ref>', 'of one ref')
      .option('--run <id>', 'that hold for one run alone')
      .option('--disputed', 'only those of which two sources say different things'),
    act,
    {
      service: 'ledger',
      path: '/v1/assumptions',
      columns: COLUMNS,
      query: ({ ref, run, disputed }) => ({ ref, run_id: run, disputed: disputed === true ? 'true' : undefined }),
    },
  );
}

function sidesText(row: Doc): string {
  const sides = Array.isArray(row['sides']) ? row['sides'].map(docOf) : [];
  return sides.map(({ source, verdict }) => `${String(source)}: ${String(verdict)}`).join(', ');
}
