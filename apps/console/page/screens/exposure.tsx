// What becomes irreversible next, how much of it, and which ceilings hold it.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { budgets, ledger } from '../api/clients.js';
import { rowQuery, rowsQuery } from '../api/lists.js';
import { listIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { Listing } from '../parts/listing.js';
import type { Column } from '../parts/listing.js';
import { Amount, amountText, Card, Countdown, Id, Tag, Text, Time } from '../parts/shown.js';
import { Trouble } from '../parts/trouble.js';
import { codeWords } from '../words/kinds.js';

const LIMIT = { params: { query: { limit: 200 } } };
const horizonQuery = rowQuery('ledger', ['horizon'], () => ledger.GET('/v1/horizon', LIMIT));
const exposureQuery = rowsQuery('ledger', ['exposure'], () => ledger.GET('/v1/reports/exposure', LIMIT));
const budgetsQuery = rowsQuery('budgets', ['budgets'], () => budgets.GET('/v1/budgets', LIMIT));
const escalationsQuery = rowsQuery('budgets', ['escalations'], () => budgets.GET('/v1/escalations', LIMIT));

const money = (row: unknown, name: string, currency: string | null): ReactNode => {
  const minor = numberIn(row, name);
  return minor === null || currency === null ? (
    <span className="quiet">none</span>
  ) : (
    <Amount value={{ amount_minor: minor, currency }} />
  );
};

export function Exposure(): ReactNode {
  return (
    <>
      <header className="screen">
        <h1>Exposure</h1>
        <p className="quiet">What agents did that can still be undone, and for how long.</p>
      </header>
      <Horizon />
      <Standing />
      <Ceilings />
      <Escalations />
    </>
  );
}

const HORIZON: readonly Column<Row>[] = [
  { name: 'Effect', cell: (row) => <code>{textIn(row, 'capability')}</code> },
  {
    name: 'Run',
    cell: (row) => (
      <Link to="/runs/$runId" params={{ runId: textIn(row, 'run_id') ?? '' }}>
        <Id>{textIn(row, 'run_id') ?? ''}</Id>
      </Link>
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
  { name: 'Effect', cell: (row) => <code>{textIn(row, 'capability')}</code> },
  { name: 'Can be undone', isNumber: true, cell: (row) => numberIn(row, 'open') },
  { name: 'worth', isNumber: true, cell: (row) => money(row, 'open_minor', textIn(row, 'currency')) },
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
        items={data}
        error={error}
        keyOf={(row) =>
          `${textIn(row, 'capability') ?? ''} ${textIn(row, 'currency') ?? ''} ${textIn(row, 'contract_digest') ?? ''}`
        }
        none="No agent has done anything here yet."
      />
    </Card>
  );
}

const CEILINGS: readonly Column<Row>[] = [
  {
    name: 'For',
    cell: (row) => (
      <>
        <Tag>{textIn(row, 'scope')}</Tag> <Id>{textIn(row, 'scope_id') ?? ''}</Id>
      </>
    ),
  },
  { name: 'In use', isNumber: true, cell: (row) => money(row, 'used_minor', textIn(row, 'currency')) },
  { name: 'Ceiling', isNumber: true, cell: (row) => money(row, 'ceiling_minor', textIn(row, 'currency')) },
  {
    name: 'Use',
    cell: (row) => <Use used={numberIn(row, 'used_minor') ?? 0} ceiling={numberIn(row, 'ceiling_minor') ?? 0} />,
  },
];

function Use({ used, ceiling }: { readonly used: number; readonly ceiling: number }): ReactNode {
  const percent = ceiling === 0 ? (used === 0 ? 0 : 100) : Math.round((used / ceiling) * 100);
  return (
    <>
      <meter min={0} max={100} high={80} optimum={0} value={Math.min(100, percent)} aria-label="Use of the ceiling" />{' '}
      {percent} %
    </>
  );
}

function Ceilings(): ReactNode {
  const { data, error } = useQuery(budgetsQuery);
  return (
    <Card title="Ceilings">
      <Listing
        what="ceilings"
        columns={CEILINGS}
        items={data}
        error={error}
        keyOf={(row) => `${textIn(row, 'scope_id') ?? ''} ${textIn(row, 'currency') ?? ''}`}
        none="Nobody has set a ceiling."
      />
    </Card>
  );
}

const ESCALATIONS: readonly Column<Row>[] = [
  { name: 'Effect', cell: (row) => <code>{textIn(row, 'capability')}</code> },
  { name: 'Is', cell: (row) => <Tag>{codeWords(textIn(row, 'phase') ?? '')}</Tag> },
  { name: 'Why', cell: (row) => codeWords(textIn(row, 'reason') ?? '') },
  { name: 'Since', cell: (row) => <Time at={numberIn(row, 'opened_at') ?? 0} /> },
];

function Escalations(): ReactNode {
  const { data, error } = useQuery(escalationsQuery);
  return (
    <Card title="Escalations">
      {error !== null && data === undefined ? <Trouble cause={error} /> : null}
      <Listing
        what="escalations"
        columns={ESCALATIONS}
        items={data}
        error={null}
        keyOf={(row) => textIn(row, 'escalation_id') ?? ''}
        none="Nothing would have exceeded a ceiling."
      />
    </Card>
  );
}
