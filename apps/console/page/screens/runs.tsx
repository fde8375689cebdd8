// Runs: those that did something lately, and any other by an id of anything in it.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { answered, ledger } from '../api/clients.js';
import { rowsQuery } from '../api/lists.js';
import { moneyIn, numberIn, textIn } from '../api/rows.js';
import { ROW } from '../api/shapes.js';
import type { Row } from '../api/shapes.js';
import { Listing } from '../parts/listing.js';
import type { Column } from '../parts/listing.js';
import { Amount, Id, Tag, Text, Time } from '../parts/shown.js';
import { Trouble } from '../parts/trouble.js';
import { codeWords } from '../words/kinds.js';

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Run',
    cell: (row) => (
      <Link to="/runs/$runId" params={{ runId: textIn(row, 'run_id') ?? '' }}>
        <Id>{textIn(row, 'run_id') ?? ''}</Id>
      </Link>
    ),
  },
  { name: 'Effect', cell: (row) => <code>{textIn(row, 'capability')}</code> },
  { name: 'By', cell: (row) => <Text>{textIn(row, 'execution', 'agent_id') ?? ''}</Text> },
  { name: 'At stake', isNumber: true, cell: (row) => <Amount value={moneyIn(row, 'execution', 'value')} /> },
  {
    name: 'Stands',
    cell: (row) => (
      <Tag kind={textIn(row, 'recoverability') ?? ''}>{codeWords(textIn(row, 'recoverability') ?? '')}</Tag>
    ),
  },
  { name: 'Last change', cell: (row) => <Time at={numberIn(row, 'updated_at') ?? 0} /> },
];

const query = rowsQuery('ledger', ['mutations'], () =>
  ledger.GET('/v1/mutations', { params: { query: { limit: 200 } } }),
);

export function Runs(): ReactNode {
  const { data, error } = useQuery(query);
  const items = data?.toSorted((a, b) => (numberIn(b, 'updated_at') ?? 0) - (numberIn(a, 'updated_at') ?? 0));
  return (
    <>
      <header className="screen">
        <h1>Runs</h1>
        <p className="quiet">What agents did, effect by effect.</p>
      </header>
      <Find />
      <Listing
        what="effects"
        columns={COLUMNS}
        items={items}
        error={error}
        keyOf={(row) => textIn(row, 'mutation_id') ?? ''}
        none="No agent has done anything here yet."
      />
    </>
  );
}

/** An id of a run, an effect, a rollback or a recovery leads to the run. */
function Find(): ReactNode {
  const { id: first = '' } = useSearch({ from: '/runs' });
  const navigate = useNavigate();
  const [id, setId] = useState(first);
  const [problem, setProblem] = useState<unknown>(null);
  const find = async (): Promise<void> => {
    try {
      const row = await answered(ROW, ledger.GET('/v1/resolve/{id}', { params: { path: { id } } }));
      await navigate({ to: '/runs/$runId', params: { runId: textIn(row, 'run_id') ?? id } });
    } catch (cause) {
      setProblem(cause);
    }
  };
  return (
    <form
      className="filters"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        void find();
      }}
    >
      <label>
        Any id
        <input
          required
          maxLength={170}
          value={id}
          placeholder="run, effect, rollback, recovery"
          onChange={({ target }) => {
            setId(target.value);
          }}
        />
      </label>
      <button type="submit">Find</button>
      {problem === null ? null : <Trouble cause={problem} />}
    </form>
  );
}
