// recourse parked …: records that a service could not take, of all logs of all services.
import type { Doc } from '@recourse/sdk';
import { excerpt } from '@recourse/kernel';
import type { Command } from 'commander';
import { cellText, formatFields, instant } from '../output/table.js';
import type { Column } from '../output/table.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import { IDEMPOTENCY_KEY, LIMIT } from './options.js';
import type { Act } from './options.js';
import { awayText, lookInto, parkedIn } from './parked-records.js';
import type { Looked, OwnedLog } from './parked-records.js';
import type { Why } from './shapes.js';
import { soonestOf, soonestText } from './soonest.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'PARKED', of: (row) => row['parked_id'] },
  { title: 'LOG', of: (row) => row['log'] },
  { title: 'REASON', of: (row) => row['reason'] },
  { title: 'PARKED AT', of: (row) => instant(row['parked_at']) },
  { title: 'FROM', of: (row) => row['topic'] },
  { title: 'PARTITION', of: (row) => row['partition'], align: 'right' },
  { title: 'OFFSET', of: (row) => row['offset'], align: 'right' },
  { title: 'KEY', of: (row) => row['record_key'] },
  { title: 'STATE', of: (row) => (row['open'] === false ? 'closed' : 'open') },
  { title: 'DETAIL', of: (row) => beginning(cellText(row['detail'])) },
];

/** The whole of it is in `--json`. */
const beginning = (text: string): string => (text.length > DETAIL_SHOWN ? `${excerpt(text, DETAIL_SHOWN)}…` : text);
const DETAIL_SHOWN = 120;
/** Parked records that are looked through in each log. */
const SEARCH_MAX = 10_000;

export function addParked(program: Command, act: Act): void {
  const parked = program
    .command('parked')
    .description('records that could not be taken; those of the same key wait behind them');
  parked
    .command('list')
    .description('lists the parked records of all services, the earliest first')
    .option('--closed', 'those that were redriven or discarded')
    .addOption(LIMIT())
    .action(
      act<{ closed?: boolean; limit: number }>(async (session, { closed, limit }) => {
        const { found: lists, away } = await lookInto(session, (owned) =>
          parkedIn(session, owned, closed !== true, Math.max(limit, SEARCH_MAX)),
        );
        const all = { items: lists.flatMap(({ items }) => items), more: lists.some(({ more }) => more) };
        const listed = soonestOf(all, { by: 'parked_at', limit });
        const untold = awayText({ away });
        session.show({ ...listed, away }, () =>
          untold === null ? soonestText(COLUMNS, listed) : `${soonestText(COLUMNS, listed)}\n\n${untold}`,
        );
      }),
    );
  addWayOut(parked, act, 'redrive', 'takes a parked record again, and then those of its key behind it');
  addWayOut(parked, act, 'discard', 'gives up a parked record; its bytes stay in the log');
}

function addWayOut(parked: Command, act: Act, verb: 'redrive' | 'discard', description: string): void {
  parked
    .command(verb)
    .description(description)
    .argument('<id>', 'parked id')
    .requiredOption('--reason <text>', 'why, in your words')
    .addOption(IDEMPOTENCY_KEY())
    .action(act<Why>((session, options, id = '') => resolve(session, verb, id, options)));
}

async function resolve(session: Session, verb: 'redrive' | 'discard', id: string, options: Why): Promise<void> {
  const { service, log } = await ownerOf(session, id);
  const answer = await session
    .service(service)
    .command(`/v1/parked/${encodeURIComponent(id)}/${verb}`, { reason: options.reason, log }, options.idempotencyKey);
  const shown = { ...answer, log };
  session.show(shown, () => formatFields(Object.entries(shown)));
}

/** Two logs may hold it, since both read the record: the one where it is still open comes first. */
async function ownerOf(session: Session, id: string): Promise<OwnedLog> {
  let looked: Looked<readonly OwnedLog[]> = { found: [], away: [] };
  for (const open of [true, false]) {
    looked = await lookInto(session, async (owned) => {
      const { items } = await parkedIn(session, owned, open, SEARCH_MAX);
      return items.some((item) => item['parked_id'] === id) ? [owned] : [];
    });
    const [held] = looked.found.flat();
    if (held !== undefined) return held;
  }
  const untold = awayText(looked);
  const what = `no service has parked a record under ${id}`;
  throw new CliProblem('NOT_FOUND', untold === null ? what : `${what}; ${untold}`, 'refused');
}
