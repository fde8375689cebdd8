// Runs: what they did, newest first, page by page, and any of them by an id of anything in it.
import { queryOptions, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { answered, ledger } from '../api/clients.js';
import { moneyIn, numberIn, textIn } from '../api/rows.js';
import { ROW, ROWS } from '../api/shapes.js';
import type { Row } from '../api/shapes.js';
import { isPlace } from '../parts/names.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Amount, Id, Tag, Text, Time, Code } from '../parts/shown.tsx';
import { Trouble } from '../parts/trouble.tsx';
import { codeWords } from '../words/kinds.js';
import { RunLink } from '../parts/links.tsx';

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Run',
    cell: (row) => (
      <RunLink id={textIn(row, 'run_id') ?? ''}>
        <Id>{textIn(row, 'run_id') ?? ''}</Id>
      </RunLink>
    ),
  },
  { name: 'Effect', cell: (row) => <Code>{textIn(row, 'capability')}</Code> },
  { name: 'By', cell: (row) => <Text>{textIn(row, 'execution', 'agent_id') ?? ''}</Text> },
  { name: 'At stake', isNumber: true, cell: (row) => <Amount value={moneyIn(row, 'execution', 'value')} /> },
  {
    name: 'Stands',
    cell: (row) => (
      <Tag kind={textIn(row, 'recoverability') ?? ''}>{codeWords(textIn(row, 'recoverability') ?? '')}</Tag>
    ),
  },
  { name: 'Heard of', cell: (row) => <Time at={numberIn(row, 'created_at') ?? 0} /> },
  { name: 'Last change', cell: (row) => <Time at={numberIn(row, 'updated_at') ?? 0} /> },
];

const PAGE = 200;

/** A page of what was done, newest first; `before` is where the page before it ended. */
const effectsQuery = (before: string | undefined) =>
  queryOptions({
    queryKey: ['ledger', 'effects', before ?? ''],
    queryFn: () => {
      const query = { limit: PAGE, ...(before === undefined ? {} : { cursor: before }) };
      return answered(ROWS, ledger.GET('/v1/effects', { params: { query } }));
    },
  });

export function Runs(): ReactNode {
  const { before } = useSearch({ from: '/runs' });
  const { data, error } = useQuery(effectsQuery(before));
  return (
    <>
      <header className="screen">
        <h1>Runs</h1>
        <p className="quiet">What agents did, effect by effect, the newest first.</p>
      </header>
      <Find />
      <Listing
        what="effects"
        columns={COLUMNS}
        items={data?.items}
        error={error}
        keyOf={(row) => textIn(row, 'mutation_id') ?? ''}
        none={before === undefined ? 'No agent has done anything here yet.' : 'Nothing is older than that.'}
      />
      <Pages before={before} next={data?.next_cursor ?? null} />
    </>
  );
}

/** The page stands in the address: what is kept or sent shows what was older than the same effect. */
function Pages({ before, next }: { readonly before: string | undefined; readonly next: string | null }): ReactNode {
  return (
    <nav className="verbs" aria-label="Pages">
      {before === undefined ? null : <Link to="/runs">Newest</Link>}
      {next === null ? null : (
        <Link to="/runs" search={{ before: next }}>
          Older
        </Link>
      )}
    </nav>
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
      // No path can hold dots alone, and of all that has an id only a run is called so.
      const row = isPlace(id)
        ? { run_id: id }
        : await answered(ROW, ledger.GET('/v1/resolve/{any_id}', { params: { path: { any_id: id } } }));
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
