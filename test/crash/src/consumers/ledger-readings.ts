// What the ledger says in the end: commits on record, what is rolled back, who has answered.
import type { StackFacts } from '@recourse/dev-stack';
import type { Arena } from '../arena.js';
import { PARTITIONS } from '../arena.js';
import { listOf, OPERATOR, TENANT } from '../edge.js';
import type { Answered } from './consumer-report.js';
import { LogReader } from './log-reader.js';

const MUTATIONS = 'recourse.mutations';
const PAGE = 500;

/** How often each commit is on record. */
export async function commitsOnRecord(stack: StackFacts, logId: string): Promise<ReadonlyMap<string, number>> {
  const times = new Map<string, number>();
  const reader = new LogReader(stack, logId, MUTATIONS, PARTITIONS);
  try {
    await reader.news(({ type, body }) => { if (type === 'CheckpointRecorded') times.set(body.commit_id, (times.get(body.commit_id) ?? 0) + 1); });
  } finally {
    await reader.close();
  }
  return times;
}

/** All that the ledger gives to somebody who polls it. */
export async function rolledBack({ edge }: Arena): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let after = '', more = true; more;) {
    const { body } = await edge.get('ledger', `/v1/rolled-back?scope=${TENANT}&limit=${String(PAGE)}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`, OPERATOR);
    for (const item of listOf(body['items'])) ids.add(String(item['mutation_id'] ?? item['commit_id']));
    after = String(body['after']);
    more = body['more'] === true;
  }
  return ids;
}

/** What the ledger counts of a consumer's answers. */
export async function answersOf({ edge }: Arena, consumer: string): Promise<Answered> {
  const { body } = await edge.get('ledger', `/v1/reports/consumers?consumer=${consumer}`, OPERATOR);
  const [row = {}] = listOf(body['items']);
  const numberOr = (value: unknown): number | null => (typeof value === 'number' ? value : null);
  return { due: numberOr(row['due']) ?? 0, acknowledged: numberOr(row['acknowledged']) ?? 0, p50Ms: numberOr(row['p50_ms']), p99Ms: numberOr(row['p99_ms']) };
}
