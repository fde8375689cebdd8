// Steps in a list, as every command that lists them shows them.
import type { Doc } from '@recourse/sdk';
import { instant } from '../output/table.js';
import type { Column } from '../output/table.js';

export const STEP_COLUMNS: readonly Column<Doc>[] = [
  { title: 'STEP', of: (row) => row['step_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'PHASE', of: (row) => row['phase'] },
  { title: 'REASON', of: (row) => row['reason'] },
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'DEADLINE', of: (row) => instant(row['deadline_at']) },
];
