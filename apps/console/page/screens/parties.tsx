// Who says what is so, who hears what fell, who is told, and what holds a storm back.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { commanded, ledger, notifier } from '../api/clients.js';
import { rowQuery, rowsQuery } from '../api/lists.js';
import { numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { isOneOf, usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import type { Verb } from '../parts/verb.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { RowFacts } from '../parts/row-facts.tsx';
import { Card, Tag, Text, Time } from '../parts/shown.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { codeWords } from '../words/kinds.js';
import { SourceDrill } from './parties.drill.tsx';

const LIMIT = { params: { query: { limit: 200 } } };
const count = (name: string, label: string): Column<Row> => ({
  name: label,
  isNumber: true,
  cell: (row) => numberIn(row, name)?.toLocaleString('en') ?? 'none',
});
const ms = (name: string, label: string): Column<Row> => ({
  name: label,
  isNumber: true,
  cell: (row) => {
    const found = numberIn(row, name);
    return found === null ? 'none' : `${found.toLocaleString('en')} ms`;
  },
});

const breakersQuery = (state: 'open' | 'closed') =>
  rowsQuery('ledger', ['breakers', state], (more) =>
    ledger.GET('/v1/breakers', { params: { query: { state, limit: 200, ...more } } }),
  );
const breakerKey = (row: Row): string => `${textIn(row, 'breaker_id') ?? ''} ${textIn(row, 'run_id') ?? ''}`;
const BREAKER: readonly Column<Row>[] = [
  {
    name: 'Over',
    cell: (row) => (
      <>
        <Tag>{textIn(row, 'scope')}</Tag> <Text>{textIn(row, 'name') ?? ''}</Text>
      </>
    ),
  },
  {
    name: 'Is',
    cell: (row) => <Tag kind={textIn(row, 'phase') ?? ''}>{codeWords(textIn(row, 'phase') ?? '')}</Tag>,
  },
  { name: 'Since', cell: (row) => <Time at={numberIn(row, 'opened_at') ?? 0} /> },
  count('count', 'Rollbacks'),
  count('limit', 'at most'),
  ms('window_ms', 'within'),
];

interface Part {
  readonly title: string;
  readonly query: ReturnType<typeof rowsQuery>;
  readonly columns: readonly Column<Row>[];
  readonly keyOf: (row: Row) => string;
  readonly none: string;
}

const SOURCES: Part = {
  title: 'Sources',
  query: rowsQuery('ledger', ['sources'], () => ledger.GET('/v1/sources', LIMIT)),
  columns: [
    { name: 'Source', cell: (row) => <Text>{textIn(row, 'source') ?? ''}</Text> },
    {
      name: 'Trust',
      isNumber: true,
      cell: (row) => {
        const weight = numberIn(row, 'weight_permille');
        return weight === null ? 'not set' : `${weight / 10} %`;
      },
    },
    {
      name: 'Precision',
      isNumber: true,
      cell: (row) => {
        const found = numberIn(row, 'precision');
        return found === null ? 'not known' : `${Math.round(found * 100)} %`;
      },
    },
    count('confirmed', 'Confirmed'),
    count('rejected', 'Rejected'),
    count('held', 'Held'),
    count('rollbacks', 'Rollbacks'),
  ],
  keyOf: (row) => textIn(row, 'source') ?? '',
  none: 'No source has said anything yet.',
};

const PARTS: readonly Part[] = [
  {
    title: 'Storms and breakers',
    query: breakersQuery('open'),
    columns: BREAKER,
    keyOf: breakerKey,
    none: 'No storm: no breaker is open.',
  },
  {
    title: 'Breakers that were closed',
    query: breakersQuery('closed'),
    columns: [
      ...BREAKER,
      { name: 'Closed by', cell: (row) => <Text>{textIn(row, 'closed', 'by') ?? ''}</Text> },
      { name: 'because', cell: (row) => <Text>{textIn(row, 'closed', 'reason') ?? ''}</Text> },
    ],
    keyOf: breakerKey,
    none: 'Nobody has closed a breaker yet.',
  },
  {
    title: 'Consumers',
    query: rowsQuery('ledger', ['consumers'], () => ledger.GET('/v1/reports/consumers', LIMIT)),
    columns: [
      { name: 'Consumer', cell: (row) => <Text>{textIn(row, 'consumer') ?? ''}</Text> },
      { name: 'Hears', cell: (row) => textIn(row, 'mode') },
      count('acknowledged', 'Answered'),
      count('waiting', 'Waited for'),
      count('overdue', 'Overdue'),
      count('late', 'Late'),
      ms('p50_ms', 'Half answer within'),
      ms('p99_ms', '99 % within'),
    ],
    keyOf: (row) => textIn(row, 'consumer') ?? '',
    none: 'Nobody has had to hear of a rollback yet.',
  },
  {
    title: 'Receivers of notices to people',
    query: rowsQuery('notifier', ['endpoints'], () => notifier.GET('/v1/endpoints')),
    columns: [
      { name: 'Receiver', cell: (row) => <Text>{textIn(row, 'name') ?? ''}</Text> },
      { name: 'Is', cell: (row) => <Tag kind={textIn(row, 'state') ?? ''}>{textIn(row, 'state')}</Tag> },
      { name: 'At', cell: (row) => <Text>{textIn(row, 'to') ?? ''}</Text> },
      count('queued', 'Queued'),
      count('given_up', 'Given up'),
      { name: 'Drill', cell: (row) => <Test name={textIn(row, 'name') ?? ''} /> },
    ],
    keyOf: (row) => textIn(row, 'name') ?? '',
    none: 'Nobody is told: no receiver is configured.',
  },
];

export function Parties(): ReactNode {
  return (
    <>
      <header className="screen">
        <h1>Sources and consumers</h1>
        <p className="quiet">Who says what is so, who hears what fell, and what holds a storm back.</p>
      </header>
      <List part={SOURCES} />
      <Drill />
      {PARTS.map((part) => (
        <List key={part.title} part={part} />
      ))}
      <Limits />
    </>
  );
}

/** The drill knows the sources that the list above it shows. */
function Drill(): ReactNode {
  const { data } = useQuery(SOURCES.query);
  return <SourceDrill sources={data?.items.flatMap((row) => textIn(row, 'source') ?? []) ?? []} />;
}

function List({ part: { title, query, columns, keyOf, none } }: { readonly part: Part }): ReactNode {
  const { data, error } = useQuery(query);
  return (
    <Card title={title}>
      <Listing
        what={title}
        columns={columns}
        items={data?.items}
        isCut={data?.isCut}
        error={error}
        keyOf={keyOf}
        none={none}
      />
    </Card>
  );
}

/** A drill of a receiver: a notice that says it is a test. */
function Test({ name }: { readonly name: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const person = usePerson();
  const verb: Verb = {
    name: `Test ${name}`,
    isUnexplained: true,
    blocked: isOneOf(person, ['operator', 'administrator']) ? null : 'None of your roles may do this.',
    happens: [
      'The receiver is sent a notice that says it is a test. What comes of it stands in the list of deliveries.',
    ],
    send: () => commanded(notifier.POST('/v1/endpoints/{name}/test', { params: { path: { name } } })),
  };
  return <Decision verb={verb} about={`endpoint.${name}`} isOpen={isOpen} onOpen={setOpen} />;
}

const limitsQuery = rowQuery('ledger', ['limits'], () => ledger.GET('/v1/limits'));

function Limits(): ReactNode {
  const { data, error } = useQuery(limitsQuery);
  const settings = data?.['settings'];
  return (
    <Card title="Limits of triggers">
      {error === null ? null : <Trouble cause={error} />}
      {typeof settings === 'object' && settings !== null ? <RowFacts row={{ ...settings }} /> : null}
    </Card>
  );
}
