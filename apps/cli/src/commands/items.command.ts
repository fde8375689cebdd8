// recourse items: everything that waits for a person, and the command that ends it.
import type { Doc } from '@recourse/sdk';
import type { Command } from 'commander';
import { instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import { LIMIT } from './options.js';
import type { Act } from './options.js';
import { countParked, parkedText } from './parked-records.js';

/** Alarms and parked records are about a place in a log, others about none. */
const columnsFor = (items: readonly Doc[]): readonly Column<Doc>[] => [
  { title: 'DEADLINE', of: (row) => `${row['is_overdue'] === true ? '! ' : ''}${instant(row['deadline_at']) ?? ''}` },
  { title: 'KIND', of: (row) => row['kind'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'REASON', of: (row) => row['reason'] },
  ...(items.some((item) => typeof item['log'] === 'string') ? [{ title: 'LOG', of: (row: Doc) => row['log'] }] : []),
  { title: 'OWNER', of: (row) => row['owner'] },
  { title: 'RUNBOOK', of: (row) => row['runbook'] },
  { title: 'END IT WITH', of: (row) => row['way_out'] },
];

export function addItems(program: Command, act: Act): void {
  program
    .command('items')
    .description(
      'everything that waits for a person, the soonest deadline first, with the command that ends it; parked records that stand behind others are counted',
    )
    .option('--kind <kind>', 'of one kind, such as approval, manual, exposure or execution')
    .addOption(LIMIT())
    .action(
      act<{ readonly kind?: string; readonly limit: number }>(async (session, { kind, limit }) => {
        const listed = await session.service('notifier').list('/v1/items', { kind, tenant: session.tenant }, limit);
        const atOnce = manyText(listed.items);
        const table = (): string => listText(columnsFor(listed.items), listed);
        if (kind !== undefined) {
          session.show(listed, () => joined(table(), atOnce));
          return;
        }
        const parked = await countParked(session);
        // Those that stand behind others are no items: nobody has looked at them.
        const named = listed.items.filter((item) => item['kind'] === 'parked').length;
        session.show({ ...listed, parked }, () => joined(table(), atOnce, parkedText(parked, named)));
      }),
    );
}

/** From so many on it is said how they are decided about in one go. */
const MANY = 5;

/** What ends many of one kind at once; null where nothing does. Pure. */
function manyText(items: readonly Doc[]): string | null {
  // What somebody refused is tried again by nobody.
  const count = (kind: string): number =>
    items.filter((item) => item['kind'] === kind && item['reason'] !== 'DENIED').length;
  const said = [
    ['approval', 'approvals', 'approve-all'],
    ['manual', 'steps that are manual', 'retry-all'],
  ].flatMap(([kind = '', words = '', command = '']) =>
    count(kind) < MANY
      ? []
      : [`${String(count(kind))} ${words}, in one table: recourse recoveries ${command} --preview`],
  );
  return said.length === 0 ? null : said.join('\n');
}

function joined(...texts: readonly (string | null)[]): string {
  return texts.filter((text) => text !== null).join('\n\n');
}
