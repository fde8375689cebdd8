// One run: what happened, in order, from the intent to the verified compensation; and its undo, previewed before it is asked for.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { ledger, recoveries } from '../api/clients.js';
import { ROWS_MAX, rowsQuery } from '../api/lists.js';
import { ofTenant, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { inert } from '../parts/inert.js';
import { Card, Id, Tag, Text, Time, Code } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { RunLink } from '../parts/links.tsx';
import { codeWords } from '../words/kinds.js';
import { eventsOf } from './run.events.js';
import type { RunEvent } from './run.events.js';
import { fileOf, toldOf } from './run.story.js';
import type { Told } from './run.story.js';
import { Undo } from './run.undo.tsx';
import { tenantsIn, whoseOf } from './undo.rules.js';

export function RunScreen(): ReactNode {
  const { runId } = useParams({ from: '/runs/$runId' });
  const { tenant: chosen } = useSearch({ from: '/runs/$runId' });
  const story = useStory(runId, chosen);
  const tenants = tenantsIn(Object.values(story.rows).flat());
  const tenant = whoseOf(tenants, chosen, story.isRead);
  return (
    <>
      <header className="screen">
        <h1>
          Run <Id short={false}>{runId}</Id>
        </h1>
        <Whose runId={runId} tenants={tenants} chosen={chosen} />
        <Export runId={runId} told={story} />
      </header>
      {tenant === undefined ? null : (
        <Undo key={`${runId} ${tenant ?? ''}`} runId={runId} tenant={tenant} reports={story.rows.undos} />
      )}
      {story.trouble === null ? null : <Trouble cause={story.trouble} />}
      <Card title="What happened">
        <Timeline events={eventsOf(story.rows)} />
        <Lacks told={story} isInTrouble={story.trouble !== null} />
      </Card>
      <Standing mutations={story.rows.mutations} />
    </>
  );
}

interface WhoseProps {
  readonly runId: string;
  readonly tenants: readonly string[];
  readonly chosen: string | undefined;
}

/** Several tenants may call their runs alike; nobody undoes one of them for another. */
function Whose({ runId, tenants, chosen }: WhoseProps): ReactNode {
  if (chosen !== undefined)
    return (
      <p>
        Of <Text>{chosen}</Text> alone. <RunLink id={runId}>All that is called so</RunLink>
      </p>
    );
  if (tenants.length < 2) return null;
  return (
    <div className="notice" role="status">
      <p>Several tenants have a run of this name, and this is of all of them. Choose whose you mean to undo one:</p>
      <ul>
        {tenants.map((tenant) => (
          <li key={tenant}>
            <RunLink id={runId} tenant={tenant}>
              <Text>{tenant}</Text>
            </RunLink>
          </li>
        ))}
      </ul>
    </div>
  );
}

function useStory(run_id: string, tenant: string | undefined): Told & { readonly trouble: unknown } {
  const query = { run_id, ...ofTenant(tenant), limit: 500 };
  const of = [run_id, tenant ?? ''];
  const mutations = useQuery(
    rowsQuery('ledger', ['mutations', ...of], (more) =>
      ledger.GET('/v1/mutations', { params: { query: { ...query, ...more } } }),
    ),
  );
  const commits = useQuery(
    rowsQuery('ledger', ['commits', ...of], (more) =>
      ledger.GET('/v1/commits', { params: { query: { ...query, ...more } } }),
    ),
  );
  const rollbacks = useQuery(
    rowsQuery('ledger', ['rollbacks', ...of], (more) =>
      ledger.GET('/v1/rollbacks', { params: { query: { ...query, ...more } } }),
    ),
  );
  const deliveries = useQuery(
    rowsQuery('ledger', ['deliveries', ...of], (more) =>
      ledger.GET('/v1/deliveries', { params: { query: { ...query, ...more } } }),
    ),
  );
  const undos = useQuery(
    rowsQuery('ledger', ['undos', ...of], (more) =>
      ledger.GET('/v1/undos', { params: { query: { ...query, ...more } } }),
    ),
  );
  const steps = useQuery(
    rowsQuery('recoveries', ['steps', ...of], (more) =>
      recoveries.GET('/v1/steps', { params: { query: { ...query, ...more } } }),
    ),
  );
  const all = { mutations, commits, rollbacks, deliveries, undos, steps };
  const trouble = Object.values(all).find(({ error }) => error !== null)?.error ?? null;
  const told = toldOf({
    mutations: mutations.data,
    commits: commits.data,
    rollbacks: rollbacks.data,
    deliveries: deliveries.data,
    undos: undos.data,
    steps: steps.data,
  });
  return { ...told, trouble };
}

/** What the story does not show, or not yet. */
function Lacks({ told, isInTrouble }: { readonly told: Told; readonly isInTrouble: boolean }): ReactNode {
  const { isRead, cut, rows } = told;
  if (!isRead) return isInTrouble ? null : <Waiting what="the rest of what happened" />;
  if (cut.length > 0)
    return (
      <p className="quiet">
        Of {cut.join(', ')} the first {ROWS_MAX.toLocaleString('en')} are shown; there are more.
      </p>
    );
  return eventsOf(rows).length > 0 ? null : <p className="quiet">Nothing of this run is on record.</p>;
}

function Timeline({ events }: { readonly events: readonly RunEvent[] }): ReactNode {
  return (
    <ol className="timeline">
      {events.map(({ id, at, what, who, detail, kind, hash }) => (
        <li key={id} className={kind}>
          <Time at={at} />
          <b>{inert(what)}</b> {who === null ? null : <Text>{who}</Text>}
          <div className="quiet">
            <Text>{detail}</Text>
            {hash === null ? null : (
              <>
                {' '}
                record <Id>{hash}</Id>
              </>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}

function Standing({ mutations }: { readonly mutations: readonly Row[] }): ReactNode {
  return (
    <Card title="Its effects">
      <ul>
        {mutations.map((row) => {
          const id = textIn(row, 'mutation_id') ?? '';
          return (
            <li key={id}>
              <Code>{textIn(row, 'capability')}</Code>{' '}
              <Tag kind={textIn(row, 'recoverability') ?? ''}>{codeWords(textIn(row, 'recoverability') ?? '')}</Tag>{' '}
              <Link to="/lineage/$commitId" params={{ commitId: id }}>
                what stands on it
              </Link>
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

/** The whole story as one file, with every record hash that the services name. */
function Export({ runId, told }: { readonly runId: string; readonly told: Told }): ReactNode {
  const save = (): void => {
    const url = URL.createObjectURL(new Blob([fileOf(runId, told)], { type: 'application/json' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `run-${runId.replaceAll(/[^\w.-]/g, '_')}.json`;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <button type="button" disabled={!told.isRead} onClick={save}>
      {told.cut.length === 0 ? 'Save the whole story' : 'Save what is shown of the story'}
    </button>
  );
}
