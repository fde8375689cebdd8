// The catalogue: which tools may act, how each is undone, and what waits for a second person.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Code, Tag, Text, Time } from '../parts/shown.tsx';
import { codeWords } from '../words/kinds.js';
import { catalogueQuery } from './contracts.query.js';
import { standingIn } from './contracts.rules.js';
import { ownerWords } from './proposals.rules.js';
import { Proposals } from './proposals.tsx';

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Capability',
    cell: (row) => (
      <Link
        to="/contracts/$name"
        params={{ name: textIn(row, 'name') ?? '' }}
        search={{ of: textIn(row, 'tenant') ?? undefined }}
      >
        <Code>{textIn(row, 'name')}</Code>
      </Link>
    ),
  },
  { name: 'Version', isNumber: true, cell: (row) => numberIn(row, 'version') },
  { name: 'Effect', cell: (row) => <Text>{textIn(row, 'contract', 'effect') ?? ''}</Text> },
  {
    name: 'Class',
    cell: (row) => <Tag>{textIn(row, 'contract', 'reversal_class') ?? textIn(row, 'contract', 'impact')}</Tag>,
  },
  { name: 'Undone by', cell: (row) => <code>{textIn(row, 'contract', 'compensation_capability') ?? ''}</code> },
  { name: 'Agreed by', cell: (row) => codeWords(textIn(row, 'contract', 'recovery_approval_mode') ?? '') },
  {
    name: 'Whose',
    cell: (row) => <Text>{ownerWords(textIn(row, 'tenant'))}</Text>,
  },
  { name: 'Since', cell: (row) => <Time at={numberIn(row, 'registered_at') ?? 0} /> },
];

export function Contracts(): ReactNode {
  const { find = '' } = useSearch({ from: '/contracts' });
  const navigate = useNavigate({ from: '/contracts' });
  const { data, error } = useQuery(catalogueQuery);
  const standing = data === undefined ? undefined : standingIn(data.items);
  const items = standing?.filter((row) => (textIn(row, 'name') ?? '').includes(find.toLowerCase()));
  return (
    <>
      <header className="screen">
        <h1>Contracts</h1>
        <p className="quiet">
          Which tools may act, and how each is undone, checked and agreed to.{' '}
          <Link to="/contracts/draft">Draft some from a tool list</Link>
        </p>
      </header>
      <Proposals />
      <form
        className="filters"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
        }}
      >
        <label>
          Find
          <input
            type="search"
            value={find}
            maxLength={200}
            placeholder="capability"
            onChange={({ target }) => {
              void navigate({ search: { find: target.value || undefined }, replace: true });
            }}
          />
        </label>
      </form>
      <Listing
        what="contracts"
        columns={COLUMNS}
        items={items}
        isCut={data?.isCut}
        error={error}
        keyOf={(row) => `${textIn(row, 'name') ?? ''} ${textIn(row, 'tenant') ?? ''} ${numberIn(row, 'version') ?? ''}`}
        none="No contract is called so."
      />
    </>
  );
}
