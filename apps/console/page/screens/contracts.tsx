// The catalogue: which tools may act, how each is undone, and what waits for a second person.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { commanded, contracts, underKey } from '../api/clients.js';
import { rowsQuery } from '../api/lists.js';
import { numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { Decision } from '../parts/decision.tsx';
import type { Verb } from '../parts/decision.tsx';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Card, Id, Tag, Text, Time, Code } from '../parts/shown.tsx';
import { codeWords } from '../words/kinds.js';

const LIMIT = { params: { query: { limit: 500 } } };
const catalogueQuery = rowsQuery('contracts', ['contracts'], () => contracts.GET('/v1/contracts', LIMIT));
const proposalsQuery = rowsQuery('contracts', ['proposals'], () => contracts.GET('/v1/contract-proposals', LIMIT));

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Capability',
    cell: (row) => (
      <Link to="/contracts/$name" params={{ name: textIn(row, 'name') ?? '' }}>
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
    cell: (row) => (textIn(row, 'tenant') === '*' ? 'the platform' : <Text>{textIn(row, 'tenant') ?? ''}</Text>),
  },
  { name: 'Since', cell: (row) => <Time at={numberIn(row, 'registered_at') ?? 0} /> },
];

export function Contracts(): ReactNode {
  const { find = '' } = useSearch({ from: '/contracts' });
  const navigate = useNavigate({ from: '/contracts' });
  const { data, error } = useQuery(catalogueQuery);
  const items = data?.filter((row) => (textIn(row, 'name') ?? '').includes(find.toLowerCase()));
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
        error={error}
        keyOf={(row) => `${textIn(row, 'name') ?? ''} ${textIn(row, 'tenant') ?? ''}`}
        none="No contract is called so."
      />
    </>
  );
}

function Proposals(): ReactNode {
  const { data, error } = useQuery(proposalsQuery);
  return (
    <Card title="Waits for a second person">
      <Listing
        what="proposals"
        columns={PROPOSALS}
        items={data}
        error={error}
        keyOf={(row) => `${textIn(row, 'name') ?? ''} ${textIn(row, 'digest') ?? ''}`}
        none="No proposal waits."
      />
    </Card>
  );
}

const PROPOSALS: readonly Column<Row>[] = [
  { name: 'Capability', cell: (row) => <Code>{textIn(row, 'name')}</Code> },
  { name: 'By', cell: (row) => <Text>{textIn(row, 'proposed_by') ?? textIn(row, 'registered_by') ?? ''}</Text> },
  { name: 'Digest', cell: (row) => <Id>{textIn(row, 'digest') ?? ''}</Id> },
  { name: 'Confirm', cell: (row) => <Confirm row={row} /> },
];

function Confirm({ row }: { readonly row: Row }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const name = textIn(row, 'name') ?? '';
  const digest = textIn(row, 'digest') ?? '';
  const verb: Verb = {
    name: `Confirm ${name}`,
    isUnexplained: true,
    happens: [
      'The proposal binds from now on: actions that begin later are undone, checked and agreed to as it says.',
      `Its digest is ${digest}.`,
    ],
    send: ({ key }) =>
      commanded(
        contracts.POST('/v1/contracts/{name}/confirm', {
          params: { path: { name }, header: underKey(key) },
          body: { digest },
        }),
      ),
  };
  return <Decision verb={verb} about={`contract.${digest}`} isOpen={isOpen} onOpen={setOpen} />;
}
