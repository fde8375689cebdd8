// What the ledger says in the end: commits on record, what is rolled back, who has answered.
import type { StackFacts } from '@recourse/dev-stack';
import type { Arena } from '../arena.js';
import { PARTITIONS } from '../arena.js';
import { listOf, OPERATOR, TENANT } from '../edge.js';
import type { Answered } from './consumer-report.js';
import { LogReader } from './log-reader.js';

const MUTATIONS = 'recourse.mutations';
const PAGE = 500;

/** Commits on record, read on at every look. */
export class Recorded {
  /** How often each is there. */
  readonly times = new Map<string, number>();
  private readonly reader: LogReader<typeof MUTATIONS>;

  constructor(stack: StackFacts, logId: string) {
    this.reader = new LogReader(stack, logId, MUTATIONS, PARTITIONS);
  }

  /** Reads on. Errors: those of broker and registry. */
  async look(): Promise<void> {
    await this.reader.news(({ type, body }) => {
      if (type === 'CheckpointRecorded') this.times.set(body.commit_id, (this.times.get(body.commit_id) ?? 0) + 1);
    });
  }

  close(): Promise<void> {
    return this.reader.close();
  }
}

/** All that the ledger gives to somebody who polls it. */
export async function rolledBack({ edge }: Arena): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  for (let after = '', more = true; more;) {
    const { body } = await edge.get(
      'ledger',
      `/v1/rolled-back?scope=${TENANT}&limit=${String(PAGE)}${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
      OPERATOR,
    );
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
  return {
    due: numberOr(row['due']) ?? 0,
    acknowledged: numberOr(row['acknowledged']) ?? 0,
    p50Ms: numberOr(row['p50_ms']),
    p99Ms: numberOr(row['p99_ms']),
  };
}
