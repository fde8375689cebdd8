// State hashes of every partition of every log, before and after a rebuild from offset 0 into an empty database.
import { dropDatabase, SERVICES } from '@recourse/dev-stack';
import { TOPICS } from '@recourse/messages';
import type { Arena } from './arena.js';
import { PARTITIONS } from './arena.js';
import { AUDITOR, pause } from './edge.js';
import type { Side } from './edge.js';

export interface HashSeen {
  readonly place: string;
  readonly seq: number;
  readonly hash: string;
}

const SIDE_OF: Readonly<Record<(typeof SERVICES)[number], Side>> = {
  'contract-registry': 'registry',
  'mutation-ledger': 'ledger',
  'recovery-orchestrator': 'orchestrator',
  'budget-accountant': 'budget',
};
/** Whose writer the runs start: an auditor has no part in them. */
const LOGS = TOPICS.flatMap(({ kind, name, partitioned, written_by }) => {
  const service = SERVICES.find((one) => written_by.startsWith(one));
  return kind === 'log' && service !== undefined ? [{ name, partitioned, service }] : [];
});
/** Longer than rows rest behind their log, and than a service waits for its next look, on a busy machine. */
const QUIET_MS = 4_000;
const QUIET_WITHIN_MS = 60_000;

/** Hashes once nothing moves any more. */
export async function hashesAtRest(arena: Arena): Promise<readonly HashSeen[]> {
  const deadlineAt = Date.now() + QUIET_WITHIN_MS;
  let before = await hashes(arena);
  for (;;) {
    await pause(QUIET_MS);
    const now = await hashes(arena);
    if (JSON.stringify(now) === JSON.stringify(before) || Date.now() > deadlineAt) return now;
    before = now;
  }
}

async function hashes(arena: Arena): Promise<readonly HashSeen[]> {
  const seen: HashSeen[] = [];
  for (const { name, partitioned, service } of LOGS) {
    for (let partition = 0; partition < (partitioned ? PARTITIONS : 1); partition += 1) {
      const { body } = await arena.edge.get(
        SIDE_OF[service],
        `/v1/state-hash?log=${name}&partition=${String(partition)}`,
        AUDITOR,
      );
      seen.push({ place: `${name}/${String(partition)}`, seq: Number(body['seq']), hash: String(body['state_hash']) });
    }
  }
  return seen;
}

/** Throws every projection away. The services are stopped before and start from their logs alone. */
export async function dropProjections(arena: Arena): Promise<void> {
  for (const service of SERVICES) await dropDatabase(arena.stack, arena.plan.databases[service].database);
}

/** Where two readings differ. */
export function differences(before: readonly HashSeen[], after: readonly HashSeen[]): readonly string[] {
  return before.flatMap((was) => {
    const is = after.find(({ place }) => place === was.place);
    return is?.seq === was.seq && is.hash === was.hash
      ? []
      : [`${was.place} was ${was.hash} at ${String(was.seq)}, rebuilt it is ${String(is?.hash)} at ${String(is?.seq)}`];
  });
}
