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

/** Names of one sort that a record holds at the most; of a reading of more things than that it names the runs alone. */
const NAMES_MAX = 500;
/** Things that are shown at once have a name or two each. */
const NAMED_PAYLOADS_MAX = NAMES_MAX / 2;

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'READ', of: (row) => instant(row['read_at']) },
  { title: 'BY', of: (row) => row['reader'] },
  { title: 'TENANT', of: (row) => row['tenant'] },
  { title: 'WHAT', of: (row) => textOf(row['things']) },
  { title: 'OF', of: (row) => textOf(row['subjects']) },
  { title: 'PAYLOADS', of: (row) => row['payload_count'] },
  { title: 'ROUTE', of: (row) => row['route'] },
];

/** Whether it names the thing that was asked about. */
const ABOUT: Column<Doc> = { title: 'ABOUT IT', of: (row) => (row['about'] === 'named' ? 'named' : 'may be') };

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
    .option(
      '--about <id>',
      'readings of this mutation, commit, step or subject; those of more than a record names are listed as "may be"',
    )
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
          .flatMap((reading) => (about === undefined ? [reading] : toldAbout(reading, about)))
          .sort((a, b) => Number(b['read_at']) - Number(a['read_at']));
        const more = found.length > limit || lists.some((list) => list.more);
        const listed = { items: found.slice(0, limit), more };
        session.show(listed, () => listText(about === undefined ? COLUMNS : [ABOUT, ...COLUMNS], listed));
      }),
    );
}

/** The reading with whether it names the thing; nothing where it is about others. */
function toldAbout(reading: Doc, id: string): readonly Doc[] {
  if (isAbout(reading, id)) return [{ ...reading, about: 'named' }];
  return isOfMore(reading) ? [{ ...reading, about: 'possible' }] : [];
}

/** Was more read than it names? */
function isOfMore(reading: Doc): boolean {
  const [things, subjects] = [namesIn(reading['things']), namesIn(reading['subjects'])];
  const hasRunsAlone = things.every((thing) => thing.startsWith('run/'));
  return (
    things.length >= NAMES_MAX ||
    subjects.length >= NAMES_MAX ||
    (hasRunsAlone && Number(reading['payload_count']) > NAMED_PAYLOADS_MAX)
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
