// recourse audit readings: who was shown what sealed payloads hold, as every service has it on record.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { SERVICES } from '../config.js';
import { instant, listText } from '../output/table.js';
import type { Column } from '../output/table.js';
import { LIMIT } from './options.js';
import type { Act } from './options.js';

/** Readings that are looked through, in each service. */
const SEARCH_MAX = 10_000;

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'READ', of: (row) => instant(row['read_at']) },
  { title: 'BY', of: (row) => row['reader'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'WHAT', of: (row) => textOf(row['things']) },
  { title: 'OF', of: (row) => textOf(row['subjects']) },
  { title: 'PAYLOADS', of: (row) => row['payload_count'] },
  { title: 'ROUTE', of: (row) => row['route'] },
];

interface ReadingsOptions {
  readonly by?: string;
  readonly about?: string;
  readonly limit: number;
}

export function addReadings(audit: Command, act: Act): void {
  audit
    .command('readings')
    .description('lists who was shown what sealed payloads hold, the newest first')
    .option('--by <subject>', 'readings of this person or program')
    .option('--about <id>', 'readings of this mutation, commit, step or subject')
    .addOption(LIMIT())
    .action(
      act<ReadingsOptions>(async (session, { by, about, limit }) => {
        const lists = await Promise.all(
          SERVICES.map((service) =>
            session.service(service).list('/v1/readings', { reader: by, tenant: session.tenant }, SEARCH_MAX),
          ),
        );
        const found = lists
          .flatMap(({ items }) => items.map(docOf))
          .filter((reading) => about === undefined || isAbout(reading, about))
          .sort((a, b) => Number(b['read_at']) - Number(a['read_at']));
        const more = found.length > limit || lists.some((list) => list.more);
        const listed = { items: found.slice(0, limit), more };
        session.show(listed, () => listText(COLUMNS, listed));
      }),
    );
}

function isAbout(reading: Doc, id: string): boolean {
  const things = namesIn(reading['things']);
  return namesIn(reading['subjects']).includes(id) || things.some((thing) => thing === id || thing.endsWith(`/${id}`));
}

function textOf(names: unknown): string {
  const [first = '', ...more] = namesIn(names);
  return more.length === 0 ? first : `${first} and ${String(more.length)} more`;
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
