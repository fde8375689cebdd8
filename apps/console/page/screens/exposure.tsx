// What becomes irreversible next, how much of it, and which ceilings hold it.
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ledger } from '../api/clients.js';
import { rowQuery, rowsQuery } from '../api/lists.js';
import { listIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { amountText } from '../parts/amount.js';
import { Card, Code, Countdown, Id, Minor, Text } from '../parts/shown.tsx';
import { RunLink } from '../parts/links.tsx';
import { Autonomy, Forecast, TopAgents } from './exposure.agents.tsx';
import { Ceilings, Escalations } from './exposure.ceilings.tsx';

const LIMIT = { params: { query: { limit: 200 } } };
const horizonQuery = rowQuery('ledger', ['horizon'], () => ledger.GET('/v1/horizon', LIMIT));
const exposureQuery = rowsQuery('ledger', ['exposure'], () => ledger.GET('/v1/reports/exposure', LIMIT));

export function Exposure(): ReactNode {
  return (
    <>
      <header className="screen">
        <h1>Exposure</h1>
        <p className="quiet">
          What agents did that can still be undone and for how long, what holds them, and how far each may go alone.
        </p>
      </header>
      <Horizon />
      <Forecast />
      <Standing />
      <TopAgents />
      <Ceilings />
      <Escalations />
      <Autonomy />
    </>
  );
}

const HORIZON: readonly Column<Row>[] = [
  { name: 'Effect', cell: (row) => <Code>{textIn(row, 'capability')}</Code> },
  {
    name: 'Run',
    cell: (row) => (
      <RunLink id={textIn(row, 'run_id') ?? ''}>
        <Id>{textIn(row, 'run_id') ?? ''}</Id>
      </RunLink>
    ),
  },
  { name: 'To', cell: (row) => <Text>{textIn(row, 'subject_ref') ?? 'nothing that is named'}</Text> },
  {
    name: 'Closes in',
    isNumber: true,
    cell: (row) => <Countdown until={numberIn(row, 'expires_at') ?? numberIn(row, 'closes_at') ?? 0} over="closed" />,
  },
];

function Horizon(): ReactNode {
  const { data, error } = useQuery(horizonQuery);
  const items = data === undefined ? undefined : (listIn(data, 'items') as readonly Row[]); // rows, as the service answers them
  return (
    <Card
      title="Becomes irreversible next"
      aside={data === undefined ? null : <Stakes at={listIn(data, 'at_stake')} />}
    >
      <Listing
        what="windows that close"
        columns={HORIZON}
        items={items}
        isCut={(textIn(data, 'next_cursor') ?? null) !== null}
        error={error}
        keyOf={(row) => textIn(row, 'mutation_id') ?? ''}
        none="No window is open: nothing can become irreversible."
      />
    </Card>
  );
}

function Stakes({ at }: { readonly at: readonly unknown[] }): ReactNode {
  return (
    <span>
      {at.map((one) => {
        const currency = textIn(one, 'currency') ?? '';
        const minor = numberIn(one, 'amount_minor') ?? numberIn(one, 'open_minor');
        return minor === null ? null : <b key={currency}>{amountText({ amount_minor: minor, currency })} at stake </b>;
      })}
    </span>
  );
}

const EXPOSURE: readonly Column<Row>[] = [
  { name: 'Effect', cell: (row) => <Code>{textIn(row, 'capability')}</Code> },
  { name: 'Can be undone', isNumber: true, cell: (row) => numberIn(row, 'open') },
  { name: 'worth', isNumber: true, cell: (row) => <Minor of={row} name="open_minor" /> },
  { name: 'Being undone', isNumber: true, cell: (row) => numberIn(row, 'recovering') },
  { name: 'Beyond undoing', isNumber: true, cell: (row) => numberIn(row, 'beyond') },
  { name: 'Uncertain', isNumber: true, cell: (row) => numberIn(row, 'uncertain') },
  { name: 'Settled', isNumber: true, cell: (row) => numberIn(row, 'settled') },
  { name: 'Happened', isNumber: true, cell: (row) => numberIn(row, 'happened') },
];

function Standing(): ReactNode {
  const { data, error } = useQuery(exposureQuery);
  return (
    <Card title="By capability">
      <Listing
        what="exposure"
        columns={EXPOSURE}
        items={data?.items}
        isCut={data?.isCut}
        error={error}
        keyOf={(row) =>
          `${textIn(row, 'capability') ?? ''} ${textIn(row, 'currency') ?? ''} ${textIn(row, 'contract_digest') ?? ''}`
        }
        none="No agent has done anything here yet."
      />
    </Card>
  );
}
