// Drills of workers: what the last ones showed, path by path, as the command line tells it.
import { queryOptions, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import * as z from 'zod/mini';
import { numberIn, rowsIn, textIn } from '../api/rows.js';
import { ROW } from '../api/shapes.js';
import type { Row } from '../api/shapes.js';
import { checked } from '../api/clients.js';
import { counted } from '../parts/counted.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Card, Code, Id, Tag, Text, Time } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { codeWords } from '../words/kinds.js';
import { drillWords, driftFirst } from './drills.rules.js';

const DRILLS = z.object({ isKept: z.boolean(), items: z.array(ROW), unreadable: z.number() });

/** A file that nobody follows is read again while somebody looks. */
const AGAIN_MS = 10_000;

const drillsQuery = queryOptions({
  queryKey: ['console', 'drills'],
  queryFn: () =>
    checked(
      DRILLS,
      fetch('/drills').then(async (response) => {
        const body: unknown = await response.json();
        return response.ok ? { data: body, response } : { error: body, response };
      }),
    ),
  refetchInterval: AGAIN_MS,
});

const FINDINGS: readonly Column<Row>[] = [
  { name: 'Capability', cell: (row) => <Code>{textIn(row, 'capability')}</Code> },
  { name: 'Path', cell: (row) => <Text>{codeWords(textIn(row, 'path') ?? '')}</Text> },
  { name: 'Called', cell: (row) => <Code>{textIn(row, 'called')}</Code> },
  { name: 'Was', cell: (row) => <Verdict of={row} /> },
  { name: 'Drift', cell: (row) => <Text>{textIn(row, 'drift') ?? ''}</Text> },
  { name: 'Detail', cell: (row) => <Text>{textIn(row, 'detail') ?? ''}</Text> },
];

function Verdict({ of }: { readonly of: Row }): ReactNode {
  const verdict = textIn(of, 'verdict') ?? '';
  return <Tag kind={verdict}>{codeWords(verdict)}</Tag>;
}

/** A drill calls real tools with canaries, so it runs where the tool owner's kit is: the screen says how, and what it showed. */
export function Drills({ adapters }: { readonly adapters: readonly string[] }): ReactNode {
  const { data, error } = useQuery(drillsQuery);
  return (
    <Card title="Drills">
      {error === null ? null : <Trouble cause={error} />}
      {data === undefined && error === null ? <Waiting what="the last drills" /> : null}
      {data === undefined ? null : <Last {...data} />}
      <p>
        A drill goes every way back of an adapter with canaries of the tool owner, and says where the tool is no longer
        what its contracts say. It runs where the kit of the tool owner is:
      </p>
      <ul>
        {adapters.map((adapter) => (
          <li key={adapter}>
            <code>{`npx recourse drill ${adapter} --module ./drill-kit.mjs --out drills.jsonl`}</code>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Last({ isKept, items, unreadable }: z.infer<typeof DRILLS>): ReactNode {
  if (!isKept)
    return (
      <p className="quiet">
        This console is told of no file that drills write: set <code>RECOURSE_CONSOLE_DRILLS_FILE</code>.
      </p>
    );
  return (
    <>
      {unreadable === 0 ? null : (
        <p>{counted(unreadable, 'line of the file is', 'lines of the file are')} no report of a drill.</p>
      )}
      {items.length === 0 ? <p className="quiet">Nobody has drilled a worker yet.</p> : null}
      {items.map((drill, at) => (
        <details key={textIn(drill, 'drill_id') ?? at} open={at === 0}>
          <summary>
            <Code>{textIn(drill, 'adapter')}</Code> <Verdict of={drill} />{' '}
            <Time at={numberIn(drill, 'ended_at') ?? 0} />
          </summary>
          <p>
            {drillWords(drill)} <Id>{textIn(drill, 'drill_id') ?? ''}</Id>
          </p>
          <Listing
            what={`findings of the drill of ${textIn(drill, 'adapter') ?? ''}`}
            columns={FINDINGS}
            items={driftFirst(rowsIn(drill, 'findings'))}
            error={null}
            keyOf={(row) =>
              `${textIn(row, 'capability') ?? ''} ${textIn(row, 'path') ?? ''} ${textIn(row, 'called') ?? ''}`
            }
            none="No contract of this adapter is undone by machines."
          />
        </details>
      ))}
    </>
  );
}
