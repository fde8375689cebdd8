// Which agents hold most debt, what soon nothing takes back any more, and how far each agent may go alone.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { budgets } from '../api/clients.js';
import { rowsQuery } from '../api/lists.js';
import { numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Card, Countdown, Minor, Parts, Tag, Text } from '../parts/shown.tsx';
import { codeWords } from '../words/kinds.js';

const BY_AGENT = { params: { query: { limit: 20, by: 'agent' as const } } };
const harmQuery = rowsQuery('budgets', ['harm'], () => budgets.GET('/v1/reports/harm', BY_AGENT));
const forecastQuery = rowsQuery('budgets', ['forecast'], () => budgets.GET('/v1/reports/forecast', BY_AGENT));
const autonomyQuery = rowsQuery('budgets', ['autonomy'], (more) =>
  budgets.GET('/v1/autonomy', { params: { query: { limit: 200, ...more } } }),
);

const AGENT: Column<Row> = {
  name: 'Agent',
  cell: (row) => <Text>{textIn(row, 'agent_id') ?? 'nobody that is named'}</Text>,
};
const minor = (name: string, label: string): Column<Row> => ({
  name: label,
  isNumber: true,
  cell: (row) => <Minor of={row} name={name} />,
});
const closes: Column<Row> = {
  name: 'First closes in',
  isNumber: true,
  cell: (row) => {
    const at = numberIn(row, 'closes_first_at');
    return at === null ? 'nothing is open' : <Countdown until={at} over="closed" />;
  },
};
const unitOf = (row: Row): string => `${textIn(row, 'agent_id') ?? ''} ${textIn(row, 'currency') ?? ''}`;

const HARM: readonly Column<Row>[] = [
  AGENT,
  minor('reserved_minor', 'Reserved'),
  minor('open_minor', 'Can be undone'),
  minor('beyond_minor', 'Beyond undoing'),
  minor('moved_minor', 'Moved'),
  minor('recovery_minor', 'Recovery cost'),
  minor('recovery_expected_minor', 'is expected to cost'),
  closes,
];

export function TopAgents(): ReactNode {
  const { data, error } = useQuery(harmQuery);
  return (
    <Card title="Agents with most debt">
      <Listing
        what="agents"
        columns={HARM}
        items={data?.items}
        isCut={data?.isCut}
        error={error}
        keyOf={unitOf}
        none="No agent has debt that stands."
      />
    </Card>
  );
}

const FORECAST: readonly Column<Row>[] = [
  AGENT,
  minor('within_hour_minor', 'Within the next hour'),
  { name: 'effects', isNumber: true, cell: (row) => numberIn(row, 'within_hour')?.toLocaleString('en') },
  minor('within_day_minor', 'Within the next day'),
  { name: 'effects', isNumber: true, cell: (row) => numberIn(row, 'within_day')?.toLocaleString('en') },
  closes,
];

export function Forecast(): ReactNode {
  const { data, error } = useQuery(forecastQuery);
  return (
    <Card title="Forecast: what nothing takes back any more">
      <Listing
        what="forecast"
        columns={FORECAST}
        items={data?.items}
        isCut={data?.isCut}
        error={error}
        keyOf={unitOf}
        none="Nothing becomes irreversible within the next day."
      />
    </Card>
  );
}

const AUTONOMY: readonly Column<Row>[] = [
  AGENT,
  {
    name: 'At',
    cell: (row) => (
      <Link to="/autonomy/$id" params={{ id: textIn(row, 'autonomy_id') ?? '' }}>
        <Text>{textIn(row, 'task_kind') ?? ''}</Text>
      </Link>
    ),
  },
  { name: 'May', cell: (row) => <Tag>{codeWords(textIn(row, 'rung') ?? '')}</Tag> },
  { name: 'Earned', cell: (row) => codeWords(textIn(row, 'earned') ?? '') },
  { name: 'Held by', cell: (row) => <Text>{textIn(row, 'capped_by') ?? 'nothing'}</Text> },
  { name: 'Score', isNumber: true, cell: (row) => <Parts of={row} name="score_ppm" /> },
  { name: 'Frozen by', cell: (row) => codeWords(textIn(row, 'frozen_by') ?? 'nobody') },
];

export function Autonomy(): ReactNode {
  const { data, error } = useQuery(autonomyQuery);
  return (
    <Card title="How far agents may go alone">
      <Listing
        what="autonomy"
        columns={AUTONOMY}
        items={data?.items}
        isCut={data?.isCut}
        error={error}
        keyOf={(row) => textIn(row, 'autonomy_id') ?? ''}
        none="No agent has earned anything yet: each asks as its contracts say."
      />
    </Card>
  );
}
