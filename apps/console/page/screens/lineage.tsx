// What stands on what: a graph of runs, opened run by run; a rollback is previewed before anybody asks for it.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useDeferredValue, useMemo } from 'react';
import type { ReactNode } from 'react';
import { commanded, ledger, underKey } from '../api/clients.js';
import { rowQuery } from '../api/lists.js';
import { numberIn, ofTenant } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { isOneOf, usePerson } from '../app/session.js';
import { counted } from '../parts/counted.js';
import { Decision } from '../parts/decision.tsx';
import type { Verb } from '../parts/verb.js';
import { useHeld } from '../parts/held.js';
import { stillAs } from '../parts/held.rules.js';
import { inert } from '../parts/inert.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Card, Id, Tag, Text } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { codeWords } from '../words/kinds.js';
import { commitsOf, fallWords, isSameFall } from './fall.rules.js';
import { Graph } from './lineage-graph.tsx';
import { lineageQuery } from './lineage.query.js';
import type { Lineage, LineageBox } from './lineage.query.js';
import { drawn, titleOf } from './lineage.rules.js';
import { RunLink } from '../parts/links.tsx';

export function LineageScreen(): ReactNode {
  const { commitId } = useParams({ from: '/lineage/$commitId' });
  const search = useSearch({ from: '/lineage/$commitId' });
  const { find = '' } = search;
  const navigate = useNavigate({ from: '/lineage/$commitId' });
  const { data, error, refetch } = useQuery(lineageQuery(commitId, search));
  const shown = useMemo(() => (data === undefined ? null : drawn(data)), [data]);
  // The graph is drawn first, and its table a moment later.
  const tabled = useDeferredValue(data);
  const toggle = (run: string): void => {
    const open = search.open ?? [];
    const next = open.includes(run) ? open.filter((one) => one !== run) : [...open, run].slice(-OPEN_MAX);
    void navigate({ search: (before) => ({ ...before, open: next.length === 0 ? undefined : next }), replace: true });
  };
  return (
    <>
      <header className="screen">
        <h1>
          What stands on <Id>{commitId}</Id>
        </h1>
        {data === undefined ? null : <p className="quiet">{summaryOf(data, find)}</p>}
      </header>
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
        <Graph shown={shown} onToggle={toggle} />
      )}
      {data === undefined ? null : <Preview key={commitId} commitId={commitId} root={data} />}
      {tabled === undefined ? null : <AsTable boxes={tabled.boxes} onToggle={toggle} />}
    </>
  );
}

/** Runs that are open at once; the ledger takes as many. */
const OPEN_MAX = 20;

function summaryOf({ commits, runs, found, left, truncated }: Lineage, find: string): string {
  const within = `${counted(commits, 'commit', 'commits')} in ${counted(runs, 'run', 'runs')}`;
  return [
    `${within}${truncated ? '; there are more than the ledger counts at once' : ''}.`,
    'Each box is a run: open it to see its commits.',
    ...(find === '' ? [] : [`${counted(found, 'commit is', 'commits are')} like “${inert(find)}”.`]),
    ...(left === 0 ? [] : [`${counted(left, 'more box is', 'more boxes are')} not drawn; find brings them forward.`]),
  ].join(' ');
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
            void navigate({ search: (before) => ({ ...before, find: target.value || undefined }), replace: true });
          }}
        />
      </label>
    </form>
  );
}

/** The same without a drawing: for whoever reads rather than looks, or has no mouse. */
function AsTable({
  boxes,
  onToggle,
}: {
  readonly boxes: readonly LineageBox[];
  readonly onToggle: (run: string) => void;
}): ReactNode {
  const columns: readonly Column<LineageBox>[] = [
    { name: 'What', cell: (box) => <Text>{titleOf(box)}</Text> },
    {
      name: 'Run',
      cell: ({ run_id }) => (
        <RunLink id={run_id}>
          <Id>{run_id}</Id>
        </RunLink>
      ),
    },
    { name: 'By', cell: ({ agents }) => <Text>{agents.join(', ')}</Text> },
    {
      name: 'Is',
      cell: ({ states }) =>
        states.map(({ state, commits }) => (
          <Tag key={state} kind={state}>
            {commits === 1 ? codeWords(state) : `${commits.toLocaleString('en')} ${codeWords(state)}`}
          </Tag>
        )),
    },
    { name: 'Told', cell: ({ told }) => <Text>{told.join(', ')}</Text> },
    { name: 'Silent', cell: ({ silent }) => <Text>{silent.join(', ')}</Text> },
    { name: 'Commits', cell: (box) => <Toggle box={box} onToggle={onToggle} /> },
  ];
  return (
    <Card title="As a table">
      <Listing
        what="runs and commits"
        columns={columns}
        items={boxes}
        error={null}
        keyOf={({ id }) => id}
        none="Nothing stands on it."
      />
    </Card>
  );
}

function Toggle({
  box: { id, run_id, is_open: isOpen, commits },
  onToggle,
}: {
  readonly box: LineageBox;
  readonly onToggle: (run: string) => void;
}): ReactNode {
  if (!isOpen && commits === 1) return <Id>{id.replace(/^run:/, '')}</Id>;
  const text = isOpen ? 'close' : `open ${commits.toLocaleString('en')}`;
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-label={isOpen ? `close run ${inert(run_id)}` : `${text} commits of run ${inert(run_id)}`}
      onClick={() => {
        onToggle(run_id);
      }}
    >
      {text}
    </button>
  );
}

/** Asked for once the graph is there: it walks the same lineage, and what is drawn comes first. */
function Preview({ commitId, root }: { readonly commitId: string; readonly root: Lineage }): ReactNode {
  const person = usePerson();
  const { data, error, refetch } = useQuery(
    rowQuery('ledger', ['preview', commitId], () =>
      ledger.GET('/v1/lineage/{commit}/preview', { params: { path: { commit: commitId } } }),
    ),
  );
  if (data === undefined) return error === null ? <Waiting what="what would fall" /> : <Trouble cause={error} />;
  const read = async (): Promise<Row | undefined> => (await refetch({ throwOnError: true })).data;
  const may = isOneOf(person, ['reporter', 'requester', 'approver', 'administrator']);
  return (
    <Card title="If it were rolled back">
      {error === null ? null : <Trouble cause={error} isOld />}
      <p>
        {commitsOf(data) === 0
          ? `Nothing more would fall: ${numberIn(data, 'fallen_already') ?? 0} fell already.`
          : fallWords(data).join(' ')}
      </p>
      {may && root.kind === 'mutation' ? <Trigger root={root} preview={data} read={read} /> : null}
    </Card>
  );
}

interface TriggerProps {
  readonly root: Lineage;
  readonly preview: Row;
  readonly read: () => Promise<Row | undefined>;
}

/** Whoever says so is held to the fall that they read. */
function Trigger({ root, preview, read }: TriggerProps): ReactNode {
  const { name, seen, isChanged, open } = useHeld(preview, isSameFall);
  return (
    <Decision
      verb={triggerVerb({ root, preview: seen, read })}
      about={`trigger.${root.commit}`}
      isOpen={name !== null}
      isChanged={isChanged}
      onOpen={(opens) => {
        open(opens ? 'trigger' : null);
      }}
    />
  );
}

function triggerVerb({ root: { commit, run_id, tenant }, preview, read }: TriggerProps): Verb {
  return {
    name: 'Say that it should not stand',
    isGrave: true,
    happens: [...fallWords(preview), 'Each effect is compensated only as its contract says, by whoever it asks.'],
    blocked: commitsOf(preview) === 0 ? 'It fell already.' : null,
    still: stillAs(preview, { read, isSame: isSameFall }),
    send: ({ reason, key }) =>
      commanded(
        ledger.POST('/v1/triggers', {
          params: { header: underKey(key) },
          body: { run_id, mutation_id: commit, ...ofTenant(tenant), reason },
        }),
      ),
  };
}
