// Workers: what waits for them and since when, who is silent, how they answered, who acts and who observes, what drills showed.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { recoveries } from '../api/clients.js';
import { rowQuery, rowsQuery } from '../api/lists.js';
import { listIn, numberIn, rowsIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Card, Code, Id, Tag, Text, Time } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { catalogueQuery } from './contracts.query.js';
import { standingIn } from './contracts.rules.js';
import { Drills } from './drills.tsx';
import { adaptersOf, waitsOf } from './workers.rules.js';
import type { AdapterWait } from './workers.rules.js';

const LIMIT = { params: { query: { limit: 500 } } };
const workersQuery = rowQuery('recoveries', ['workers'], () => recoveries.GET('/v1/workers', LIMIT));
const reportQuery = rowsQuery('recoveries', ['report'], () => recoveries.GET('/v1/reports/recoveries', LIMIT));

export function Workers(): ReactNode {
  const { data, error } = useQuery(workersQuery);
  const catalogue = useQuery(catalogueQuery);
  const asked = rowsIn(data, 'items');
  const adapters = adaptersOf(standingIn(catalogue.data?.items ?? []), asked);
  return (
    <>
      <header className="screen">
        <h1>Workers</h1>
        <p className="quiet">Who does what the contracts say, and who looks whether it is so.</p>
      </header>
      <Card title="What waits for them">
        {error === null ? null : <Trouble cause={error} />}
        {data === undefined ? (
          error === null ? (
            <Waiting what="the workers" />
          ) : null
        ) : (
          <Listing
            what="adapters"
            columns={WAITS}
            items={waitsOf(adapters, asked)}
            error={null}
            keyOf={({ adapter, tenant }) => `${adapter} ${tenant ?? ''}`}
            none="No contract is worked by anybody yet."
          />
        )}
      </Card>
      {data === undefined ? null : <Keys row={data} />}
      <Answered />
      <Drills adapters={adapters} />
    </>
  );
}

const WAITS: readonly Column<AdapterWait>[] = [
  { name: 'Adapter', cell: ({ adapter }) => <Code>{adapter}</Code> },
  { name: 'Claims', isNumber: true, cell: ({ asked }) => asked.toLocaleString('en') },
  { name: 'Oldest', cell: ({ oldestAt }) => (oldestAt === null ? 'nothing waits' : <Time at={oldestAt} />) },
  {
    name: 'Silent',
    isNumber: true,
    cell: ({ silent }) => (silent === 0 ? '0' : <strong>{silent.toLocaleString('en')} not answered in time</strong>),
  },
];

const KEYS: readonly Column<Row>[] = [
  { name: 'Key', cell: (row) => <Id>{textIn(row, 'key_id') ?? ''}</Id> },
  {
    name: 'Does',
    cell: (row) => (
      <>
        {row['acts'] === true ? <Tag>acts</Tag> : null} {row['observes'] === true ? <Tag>observes</Tag> : null}
      </>
    ),
  },
  { name: 'Adapters', cell: (row) => <Text>{namesIn(row, 'adapters')}</Text> },
  { name: 'Tenants', cell: (row) => <Text>{namesIn(row, 'tenants')}</Text> },
  {
    name: 'Until',
    cell: (row) => {
      const until = numberIn(row, 'valid_until');
      return until === null ? 'it is revoked' : <Time at={until} />;
    },
  },
];

function namesIn(row: Row, name: string): string {
  const names = listIn(row, name).filter((one) => typeof one === 'string');
  return names.includes('*') ? 'all' : names.join(', ');
}

function Keys({ row }: { readonly row: Row }): ReactNode {
  const isOpen = row['keys'] === null;
  const keys = rowsIn(row, 'keys');
  const isWatched = keys.some((key) => key['observes'] === true);
  return (
    <Card title="Who acts, who observes">
      {isOpen ? (
        <p>
          Wires are open here: nobody signs, so whoever reaches the broker works. A development stack runs like this.
        </p>
      ) : (
        <>
          <p className="quiet">
            {isWatched
              ? 'Where another key observes, nothing counts as undone by the word of the one that acted.'
              : 'No other key observes: what the one that acted says is what is known.'}
          </p>
          <Listing
            what="keys"
            columns={KEYS}
            items={keys}
            error={null}
            keyOf={(key) => textIn(key, 'key_id') ?? ''}
            none="No key works for this tenant."
          />
        </>
      )}
    </Card>
  );
}

const number = (name: string, label: string): Column<Row> => ({
  name: label,
  isNumber: true,
  cell: (row) => numberIn(row, name)?.toLocaleString('en') ?? 'none',
});
const length = (name: string, label: string): Column<Row> => ({
  name: label,
  isNumber: true,
  cell: (row) => {
    const found = numberIn(row, name);
    return found === null ? 'none yet' : `${found.toLocaleString('en')} ms`;
  },
});

const ANSWERED: readonly Column<Row>[] = [
  { name: 'Capability', cell: (row) => <Code>{textIn(row, 'capability')}</Code> },
  number('attempts', 'Calls'),
  number('compensated', 'Compensated'),
  number('automatic', 'by itself'),
  number('manual', 'By a person'),
  number('open', 'Open'),
  number('not_needed', 'Not needed'),
  length('mean_ms', 'Took on average'),
  length('max_ms', 'at most'),
];

function Answered(): ReactNode {
  const { data, error } = useQuery(reportQuery);
  return (
    <Card title="How they answered">
      <Listing
        what="recoveries by capability"
        columns={ANSWERED}
        items={data?.items}
        isCut={data?.isCut}
        error={error}
        keyOf={(row) => `${textIn(row, 'tenant') ?? ''} ${textIn(row, 'capability') ?? ''}`}
        none="Nothing had to be undone yet."
      />
    </Card>
  );
}
