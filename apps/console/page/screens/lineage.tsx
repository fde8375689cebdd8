// What stands on what: a graph of runs, opened run by run; a rollback is previewed before anybody asks for it.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import * as z from 'zod/mini';
import { answered, commanded, ledger, underKey } from '../api/clients.js';
import { rowQuery } from '../api/lists.js';
import { listIn, moneyIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { isOneOf, usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.js';
import type { Verb } from '../parts/decision.js';
import { Listing } from '../parts/listing.js';
import type { Column } from '../parts/listing.js';
import { amountText, Card, Id, Tag, Text } from '../parts/shown.js';
import { Trouble, Waiting } from '../parts/trouble.js';
import { codeWords } from '../words/kinds.js';
import { grouped } from './lineage.rules.js';
import type { LineageNode } from './lineage.rules.js';

const Graph = lazy(() => import('./lineage-graph.js'));

const text = z.string();
const LINEAGE = z.object({
  nodes: z.array(
    z.object({
      id: text,
      run_id: text,
      kind: text,
      agent: z.nullable(text),
      label: z.nullable(text),
      subject_ref: z.nullable(text),
      state: text,
      told: z.array(text),
      silent: z.array(text),
    }),
  ),
  edges: z.array(z.object({ from: text, to: text, kind: text })),
  truncated: z.boolean(),
});

export function LineageScreen(): ReactNode {
  const { commitId } = useParams({ from: '/lineage/$commitId' });
  const { find = '' } = useSearch({ from: '/lineage/$commitId' });
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const { data, error, refetch } = useQuery({
    queryKey: ['ledger', 'lineage', commitId],
    queryFn: () => answered(LINEAGE, ledger.GET('/v1/lineage/{commit}', { params: { path: { commit: commitId } } })),
  });
  const shown = useMemo(() => (data === undefined ? null : grouped(data, opened, find)), [data, opened, find]);
  const toggle = (run: string): void => {
    const next = new Set(opened);
    if (!next.delete(run)) next.add(run);
    setOpened(next);
  };
  return (
    <>
      <header className="screen">
        <h1>
          What stands on <Id>{commitId}</Id>
        </h1>
        {data === undefined ? null : (
          <p className="quiet">
            {data.nodes.length.toLocaleString('en')} commits in{' '}
            {new Set(data.nodes.map((node) => node.run_id)).size.toLocaleString('en')} runs
            {data.truncated ? '; there are more than the ledger draws at once' : ''}. Each box is a run: open it to see
            its commits.
          </p>
        )}
      </header>
      <Preview commitId={commitId} root={data?.nodes.find(({ id }) => id === commitId)} />
      <Find find={find} />
      {error === null ? null : (
        <Trouble
          cause={error}
          onAgain={() => {
            void refetch();
          }}
        />
      )}
      {shown === null ? (
        error === null ? (
          <Waiting what="the lineage" />
        ) : null
      ) : (
        <Suspense fallback={<Waiting what="the graph" />}>
          <Graph shown={shown} onToggle={toggle} />
        </Suspense>
      )}
      {data === undefined ? null : <AsTable nodes={data.nodes} find={find} />}
    </>
  );
}

function Find({ find }: { readonly find: string }): ReactNode {
  const navigate = useNavigate({ from: '/lineage/$commitId' });
  return (
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
          placeholder="run, agent, label, id"
          onChange={({ target }) => {
            void navigate({ search: { find: target.value || undefined }, replace: true });
          }}
        />
      </label>
    </form>
  );
}

const ROWS_MAX = 200;
const COLUMNS: readonly Column<LineageNode>[] = [
  { name: 'Commit', cell: ({ id }) => <Id>{id}</Id> },
  { name: 'What', cell: ({ label, kind }) => <Text>{label ?? kind}</Text> },
  {
    name: 'Run',
    cell: ({ run_id }) => (
      <Link to="/runs/$runId" params={{ runId: run_id }}>
        <Id>{run_id}</Id>
      </Link>
    ),
  },
  { name: 'By', cell: ({ agent }) => <Text>{agent ?? ''}</Text> },
  { name: 'Is', cell: ({ state }) => <Tag kind={state}>{codeWords(state)}</Tag> },
  { name: 'Told', cell: ({ told }) => told.join(', ') },
  { name: 'Silent', cell: ({ silent }) => silent.join(', ') },
];

/** The same without a drawing: for whoever reads rather than looks. */
function AsTable({ nodes, find }: { readonly nodes: readonly LineageNode[]; readonly find: string }): ReactNode {
  const word = find.toLowerCase();
  const found = nodes.filter((node) =>
    `${node.id} ${node.run_id} ${node.agent ?? ''} ${node.label ?? ''} ${node.state}`.toLowerCase().includes(word),
  );
  return (
    <Card title="As a table">
      {found.length > ROWS_MAX ? (
        <p className="quiet">
          The first {ROWS_MAX} of {found.length.toLocaleString('en')}; find narrows it.
        </p>
      ) : null}
      <Listing
        what="commits"
        columns={COLUMNS}
        items={found.slice(0, ROWS_MAX)}
        error={null}
        keyOf={({ id }) => id}
        none="No commit is like that."
      />
    </Card>
  );
}

function Preview({ commitId, root }: { readonly commitId: string; readonly root: LineageNode | undefined }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const person = usePerson();
  const { data, error } = useQuery(
    rowQuery('ledger', ['preview', commitId], () =>
      ledger.GET('/v1/lineage/{commit}/preview', { params: { path: { commit: commitId } } }),
    ),
  );
  if (data === undefined) return error === null ? <Waiting what="what would fall" /> : <Trouble cause={error} />;
  const falls = numberIn(data, 'falls', 'commits') ?? 0;
  const may = isOneOf(person, ['reporter', 'requester', 'approver', 'administrator']);
  return (
    <Card title="If it were rolled back">
      <p>
        {falls === 0
          ? `Nothing more would fall: ${numberIn(data, 'fallen_already') ?? 0} fell already.`
          : happensOf(data).join(' ')}
      </p>
      {may && root !== undefined && root.kind === 'mutation' ? (
        <Decision
          verb={triggerVerb(data, root, falls)}
          about={`trigger.${commitId}`}
          isOpen={isOpen}
          onOpen={setOpen}
        />
      ) : null}
    </Card>
  );
}

function happensOf(preview: Row): readonly string[] {
  const count = (name: string): number => numberIn(preview, 'falls', name) ?? 0;
  const money = listIn(preview, 'money').flatMap((one) => {
    const value = moneyIn({ one }, 'one');
    return value === null ? [] : [amountText(value)];
  });
  const told = listIn(preview, 'consumers').map((one) =>
    typeof one === 'string' ? one : (textIn(one, 'consumer') ?? ''),
  );
  const beyond = numberIn(preview, 'beyond_bound', 'commits') ?? 0;
  return [
    `${count('commits')} commits of ${count('runs')} runs fall: ${count('with_effect')} have an effect outside, ${count('without_effect')} have none.`,
    ...(money.length === 0 ? [] : [`At stake: ${money.join(', ')}.`]),
    told.length === 0 ? 'Nobody is told: no consumer subscribed to any of it.' : `Told: ${told.join(', ')}.`,
    ...(beyond === 0 ? [] : [`${beyond} are beyond the bound and go to a person.`]),
  ];
}

function triggerVerb(preview: Row, { id, run_id }: LineageNode, falls: number): Verb {
  return {
    name: 'Say that it should not stand',
    isGrave: true,
    happens: [...happensOf(preview), 'Each effect is compensated only as its contract says, by whoever it asks.'],
    blocked: falls === 0 ? 'It fell already.' : null,
    send: ({ reason, key }) =>
      commanded(
        ledger.POST('/v1/triggers', { params: { header: underKey(key) }, body: { run_id, mutation_id: id, reason } }),
      ),
  };
}
