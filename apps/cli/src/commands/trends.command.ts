// recourse trends …: rollbacks that come steadily faster, and a person's word on them.
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { cellText, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Act } from './options.js';
import { addListAction } from './shapes.js';
import { addVerbs } from './verbs.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'TREND', of: (row) => row['trend_id'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'OF', of: (row) => `${cellText(row['scope'])} ${cellText(row['name'])}` },
  { title: 'LAST WINDOWS', of: (row) => newest(row['counts']) },
  { title: 'RAISED', of: (row) => instant(row['raised_at']) },
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'UNTIL', of: (row) => instant(row['deadline_at']) },
];
/** Windows that are shown, the newest last. */
const SHOWN = 6;

export function addTrends(program: Command, act: Act): void {
  const trends = program
    .command('trends')
    .description('rollbacks that come steadily faster than usual: a person is told, and nothing is held');
  addListAction(
    trends.command('list').description('lists those that nobody has looked at, of each partition by itself'),
    act,
    { service: 'ledger', path: '/v1/trends', by: 'deadline_at', columns: COLUMNS },
  );
  addVerbs(trends, act, 'ledger');
}

function newest(counts: unknown): string | null {
  return Array.isArray(counts) ? counts.slice(-SHOWN).map(String).join(' ') : null;
}
