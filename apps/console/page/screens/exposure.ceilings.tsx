// Ceilings by dimension, what is above them, and the questions they raised.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { budgets } from '../api/clients.js';
import { rowsQuery } from '../api/lists.js';
import { listIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { amountText } from '../parts/amount.js';
import { Card, Code, Countdown, Id, Minor, Tag, Text } from '../parts/shown.tsx';
import { codeWords } from '../words/kinds.js';

const budgetsQuery = rowsQuery('budgets', ['budgets'], (more) =>
  budgets.GET('/v1/budgets', { params: { query: { limit: 200, ...more } } }),
);
const escalationsQuery = rowsQuery('budgets', ['escalations'], (more) =>
  budgets.GET('/v1/escalations', { params: { query: { limit: 200, ...more } } }),
);

/** What is bounded: money by its currency, and other dimensions by their name. */
const DIMENSIONS: Readonly<Record<string, string>> = {
  comms: 'messages sent',
  commitments: 'commitments made',
  exposure: 'exposure of data',
  regulatory: 'regulatory weight',
};
const dimensionOf = (unit: string): string => DIMENSIONS[unit] ?? `money, ${unit}`;

const CEILINGS: readonly Column<Row>[] = [
  { name: 'Of', cell: (row) => <Text>{dimensionOf(textIn(row, 'currency') ?? '')}</Text> },
  {
    name: 'For',
    cell: (row) => (
      <>
        <Tag>{textIn(row, 'scope')}</Tag> <Id>{textIn(row, 'scope_id') ?? ''}</Id>
      </>
    ),
  },
  { name: 'Per', cell: (row) => codeWords(textIn(row, 'window') ?? 'ever') },
  { name: 'Debt in use', isNumber: true, cell: (row) => <Minor of={row} name="used_minor" /> },
  { name: 'Ceiling of debt', isNumber: true, cell: (row) => <Minor of={row} name="ceiling_minor" /> },
  { name: 'Use', cell: (row) => <Use used={numberIn(row, 'used_minor')} ceiling={numberIn(row, 'ceiling_minor')} /> },
  { name: 'Moved', isNumber: true, cell: (row) => <Minor of={row} name="moved_minor" /> },
  { name: 'Ceiling of value', isNumber: true, cell: (row) => <Minor of={row} name="value_ceiling_minor" /> },
  {
    name: 'Use',
    cell: (row) => <Use used={numberIn(row, 'moved_minor')} ceiling={numberIn(row, 'value_ceiling_minor')} />,
  },
];

function Use({ used, ceiling }: { readonly used: number | null; readonly ceiling: number | null }): ReactNode {
  if (used === null || ceiling === null) return <span className="quiet">nobody set one</span>;
  const percent = ceiling === 0 ? (used === 0 ? 0 : 100) : Math.round((used / ceiling) * 100);
  return (
    <>
      <meter min={0} max={100} high={80} optimum={0} value={Math.min(100, percent)} aria-label="Use of the ceiling" />{' '}
      {percent} %
    </>
  );
}

export function Ceilings(): ReactNode {
  const { data, error } = useQuery(budgetsQuery);
  const items = data?.items.toSorted(
    (a, b) =>
      (textIn(a, 'currency') ?? '').localeCompare(textIn(b, 'currency') ?? '') ||
      (textIn(a, 'scope') ?? '').localeCompare(textIn(b, 'scope') ?? ''),
  );
  return (
    <Card title="Ceilings">
      <Listing
        what="ceilings"
        columns={CEILINGS}
        items={items}
        isCut={data?.isCut}
        error={error}
        keyOf={(row) => ['scope', 'scope_id', 'currency', 'window'].map((name) => textIn(row, name) ?? '').join(' ')}
        none="Nobody has set a ceiling."
      />
    </Card>
  );
}

/** Every bound that the call would exceed, in words. */
function excessOf(row: Row): string {
  return listIn(row, 'exceeded')
    .map((one) => {
      const unit = textIn(one, 'currency') ?? '';
      const bound = numberIn(one, 'ceiling_minor');
      const words = `${textIn(one, 'measure') ?? 'debt'} of the ${textIn(one, 'scope') ?? ''}`;
      return bound === null ? words : `${words}, at most ${amountText({ amount_minor: bound, currency: unit })}`;
    })
    .join('; ');
}

const ESCALATIONS: readonly Column<Row>[] = [
  { name: 'Effect', cell: (row) => <Code>{textIn(row, 'capability')}</Code> },
  { name: 'By', cell: (row) => <Text>{textIn(row, 'agent_id') ?? 'nobody that is named'}</Text> },
  { name: 'About', cell: (row) => <Text>{codeWords(textIn(row, 'about') ?? '')}</Text> },
  { name: 'Would exceed', cell: (row) => <Text>{excessOf(row)}</Text> },
  { name: 'Is', cell: (row) => <Tag kind={textIn(row, 'phase') ?? ''}>{codeWords(textIn(row, 'phase') ?? '')}</Tag> },
  {
    name: 'Until',
    cell: (row) =>
      textIn(row, 'phase') === 'open' ? (
        <Countdown until={numberIn(row, 'deadline_at') ?? 0} over="overdue" />
      ) : (
        <Text>{textIn(row, 'decided_by') ?? ''}</Text>
      ),
  },
  {
    name: 'Decide',
    cell: (row) => (
      <Link
        to="/items/$kind/$id"
        params={{ kind: 'budget', id: textIn(row, 'reservation_id') ?? '' }}
        search={{ run: textIn(row, 'run_id') ?? undefined }}
      >
        {textIn(row, 'phase') === 'open' ? 'decide' : 'look'}
      </Link>
    ),
  },
];

export function Escalations(): ReactNode {
  const { data, error } = useQuery(escalationsQuery);
  return (
    <Card title="Escalations">
      <Listing
        what="escalations"
        columns={ESCALATIONS}
        items={data?.items}
        isCut={data?.isCut}
        error={error}
        keyOf={(row) => textIn(row, 'escalation_id') ?? ''}
        none="Nothing would have exceeded a ceiling."
      />
    </Card>
  );
}
