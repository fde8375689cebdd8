// The ledger's edge as polls reach it: what was rolled back in a scope behind a position, from the rows of the ledger's database.
//
// Boundary: answers as the statement of the ledger does (apps/mutation-ledger/src/reads/consumer-queries.ts), which is held to
// a real database by specs of its own.
import { isInScope } from '@recourse/contract';
import { polledOf } from '@recourse/mutation-ledger';
import type { RollbackDoc } from '@recourse/mutation-ledger';
import type { EdgeOptions } from '@recourse/sdk';
import { rowsOf } from './rows.js';
import type { SimActor } from './scheduler.js';
import { PARTITIONS } from './world.js';
import type { World } from './world.js';

type Row = ReturnType<typeof polledOf>[number];
type Place = readonly [seq: number, member: number];
type Cursor = Readonly<Record<string, Place>>;

/** Rows a page holds at the most: few, so that polls take several. */
const PAGE_MAX = 6;

/** Answers polls of one process; an answer may be lost, or be that nobody is ready. */
export function ledgerFetch(world: World, actor: SimActor): NonNullable<EdgeOptions['fetch']> {
  return async (url) => {
    await world.scheduler.pass(actor, 'edge', 'before');
    const { searchParams } = new URL(url);
    const page = world.faults.isEdgeDown()
      ? null
      : pageOf(world, searchParams.get('scope') ?? '', searchParams.get('after'));
    if (world.faults.holdsAnswer('edge')) await world.scheduler.pass(actor, 'edge', 'after');
    return {
      status: page === null ? 503 : 200,
      headers: new Headers(),
      text: () => Promise.resolve(JSON.stringify(page ?? { code: 'NOT_READY' })),
    };
  };
}

/** Whether a poll with this cursor would get nothing. */
export function polledAll(world: World, scope: string, after: string | null): boolean {
  return pageOf(world, scope, after).items.length === 0;
}

function pageOf(
  world: World,
  scope: string,
  after: string | null,
): { readonly items: readonly Row[]; readonly after: string; readonly more: boolean } {
  const cursor = cursorOf(after);
  const found: { readonly partition: number; readonly row: Row }[] = [];
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const rollbacks = rowsOf<RollbackDoc>(world, 'mutation-ledger', 'recourse.mutations', partition, 'rollback');
    const rows = rollbacks.flatMap(polledOf).filter(
      (row) =>
        isBehind(cursor[partition], [row.seq, row.member]) &&
        isInScope(scope, {
          tenant: row.tenant,
          agent: row.agent_id,
          run: row.run_id,
          subject: row.subject_ref ?? '',
        }),
    );
    found.push(
      ...rows.sort((one, other) => one.seq - other.seq || one.member - other.member).map((row) => ({ partition, row })),
    );
  }
  const read = found.slice(0, PAGE_MAX);
  const passed = Object.fromEntries(
    read.map(({ partition, row }) => [partition, [row.seq, row.member] satisfies Place]),
  );
  return {
    items: read.map(({ row }) => row),
    after: JSON.stringify({ ...cursor, ...passed }),
    more: found.length > PAGE_MAX,
  };
}

/** Whether a mark comes after the last that was read. */
export function isBehind(last: Place | undefined, [seq, member]: Place): boolean {
  return last === undefined || seq > last[0] || (seq === last[0] && member > last[1]);
}

/** Last mark that was read of each partition. */
export function cursorOf(text: string | null): Cursor {
  return text === null ? {} : (JSON.parse(text) as Cursor);
} // `pageOf` wrote it
