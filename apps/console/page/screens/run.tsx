// One run: what happened, in order, from the intent to the verified compensation; and its undo, previewed before it is asked for.
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { commanded, ledger, recoveries, underKey } from '../api/clients.js';
import { rowQuery, ROWS_MAX, rowsQuery } from '../api/lists.js';
import { listIn, numberIn, ofTenant, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { Decision } from '../parts/decision.tsx';
import { useHeld } from '../parts/held.js';
import { stillAs } from '../parts/held.rules.js';
import { inert } from '../parts/inert.js';
import type { Verb } from '../parts/verb.js';
import { Card, Id, Tag, Text, Time, Code } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { codeWords } from '../words/kinds.js';
import { eventsOf } from './run.events.js';
import type { RunEvent } from './run.events.js';
import { fileOf, toldOf } from './run.story.js';
import type { Told } from './run.story.js';
import { isSameUndo, previewOf, undoable, UNDO_COUNTS, undoHappens } from './undo.rules.js';

export function RunScreen(): ReactNode {
  const { runId } = useParams({ from: '/runs/$runId' });
  const story = useStory(runId);
  return (
    <>
      <header className="screen">
        <h1>
          Run <Id short={false}>{runId}</Id>
        </h1>
        <Export runId={runId} told={story} />
      </header>
      <Undo key={runId} runId={runId} tenant={textIn(story.rows.mutations[0], 'tenant')} />
      {story.trouble === null ? null : <Trouble cause={story.trouble} />}
      <Card title="What happened">
        <Timeline events={eventsOf(story.rows)} />
        <Lacks told={story} isInTrouble={story.trouble !== null} />
      </Card>
      <Standing mutations={story.rows.mutations} />
    </>
  );
}

const undosQuery = (run_id: string) =>
  rowsQuery('ledger', ['undos', run_id], (more) =>
    ledger.GET('/v1/undos', { params: { query: { run_id, limit: 500, ...more } } }),
  );

function useStory(run_id: string): Told & { readonly trouble: unknown } {
  const query = { run_id, limit: 500 };
  const mutations = useQuery(
    rowsQuery('ledger', ['mutations', run_id], (more) =>
      ledger.GET('/v1/mutations', { params: { query: { ...query, ...more } } }),
    ),
  );
  const commits = useQuery(
    rowsQuery('ledger', ['commits', run_id], (more) =>
      ledger.GET('/v1/commits', { params: { query: { ...query, ...more } } }),
    ),
  );
  const rollbacks = useQuery(
    rowsQuery('ledger', ['rollbacks', run_id], (more) =>
      ledger.GET('/v1/rollbacks', { params: { query: { ...query, ...more } } }),
    ),
  );
  const deliveries = useQuery(
    rowsQuery('ledger', ['deliveries', run_id], (more) =>
      ledger.GET('/v1/deliveries', { params: { query: { ...query, ...more } } }),
    ),
  );
  const undos = useQuery(undosQuery(run_id));
  const steps = useQuery(
    rowsQuery('recoveries', ['steps', run_id], (more) =>
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
      {events.map(({ at, what, who, detail, kind, hash }) => (
        <li key={`${at} ${what} ${detail}`} className={kind}>
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

function Undo({ runId, tenant }: { readonly runId: string; readonly tenant: string | null }): ReactNode {
  const { data, error, refetch } = useQuery(
    rowQuery('ledger', ['undo-preview', runId], () =>
      ledger.GET('/v1/runs/{run_id}/undo-preview', { params: previewOf(runId) }),
    ),
  );
  const read = async (): Promise<Row | undefined> => (await refetch({ throwOnError: true })).data;
  const reports = useQuery(undosQuery(runId)).data?.items;
  return (
    <Card title="Undo">
      {error === null ? null : <Trouble cause={error} />}
      {data === undefined && error === null ? <Waiting what="what an undo would do" /> : null}
      {data === undefined ? null : (
        <>
          <p>An undo of this run, as things stand:</p>
          <Preview preview={data} />
          <AskUndo runId={runId} tenant={tenant} preview={data} read={read} />
        </>
      )}
      {(reports ?? []).map((row) => (
        <Report key={textIn(row, 'undo_id') ?? ''} id={textIn(row, 'undo_id') ?? ''} />
      ))}
    </Card>
  );
}

interface AskProps {
  readonly runId: string;
  readonly tenant: string | null;
  readonly preview: Row;
  readonly read: () => Promise<Row | undefined>;
}

/** Whoever asks for it is held to the preview that they read. */
function AskUndo({ runId, tenant, preview, read }: AskProps): ReactNode {
  const { name, seen, isChanged, open } = useHeld(preview, isSameUndo);
  return (
    <Decision
      verb={undoVerb({ runId, tenant, preview: seen, read })}
      about={`undo.${runId}`}
      isOpen={name !== null}
      isChanged={isChanged}
      onOpen={(opens) => {
        open(opens ? 'undo' : null);
      }}
    />
  );
}

function Preview({ preview }: { readonly preview: Row }): ReactNode {
  return (
    <>
      <ul>
        {UNDO_COUNTS.filter(([name]) => (numberIn(preview, 'counts', name) ?? 0) > 0).map(([name, words]) => (
          <li key={name}>
            <b>{numberIn(preview, 'counts', name)}</b> {words}
          </li>
        ))}
      </ul>
      <ul className="quiet">
        {listIn(preview, 'items').map((item) => (
          <li key={textIn(item, 'mutation_id')}>
            <Code>{textIn(item, 'capability')}</Code>: {codeWords(textIn(item, 'outcome') ?? '')}
            {textIn(item, 'residue') === null ? '' : `; stays: ${textIn(item, 'residue') ?? ''}`}
          </li>
        ))}
      </ul>
    </>
  );
}

function undoVerb({ runId, tenant, preview, read }: AskProps): Verb {
  return {
    name: 'Undo this run',
    isGrave: true,
    happens: undoHappens(preview),
    blocked: undoable(preview) === 0 ? 'There is nothing that an undo could do now.' : null,
    still: stillAs(preview, { read, isSame: isSameUndo }),
    send: ({ reason, key }) =>
      commanded(
        ledger.POST('/v1/undos', {
          params: { header: underKey(key) },
          body: { run_id: runId, ...ofTenant(tenant), reason },
        }),
      ),
  };
}

function Report({ id }: { readonly id: string }): ReactNode {
  const { data, error } = useQuery(
    rowQuery('ledger', ['undo', id], () => ledger.GET('/v1/undos/{id}', { params: { path: { id } } })),
  );
  if (data === undefined) return error === null ? null : <Trouble cause={error} />;
  const words = [
    ['undone_clean', 'undone'],
    ['undone_with_residue', 'undone, and something stays different'],
    ['not_undone', 'not undone'],
    ['still_open', 'still open'],
  ] as const;
  return (
    <section aria-label="Report of an undo" className="report">
      {error === null ? null : <Trouble cause={error} isOld />}
      <h3>
        Asked by <Text>{textIn(data, 'asked_by') ?? 'nobody that is named'}</Text>{' '}
        <Time at={numberIn(data, 'opened_at') ?? 0} />: {codeWords(textIn(data, 'outcome') ?? '')}
      </h3>
      <ul>
        {words
          .filter(([name]) => (numberIn(data, 'counts', name) ?? 0) > 0)
          .map(([name, says]) => (
            <li key={name}>
              {numberIn(data, 'counts', name)} {says}
            </li>
          ))}
        {listIn(data, 'items').map((item) => (
          <li key={textIn(item, 'mutation_id')} className="quiet">
            <Code>{textIn(item, 'capability')}</Code>: {codeWords(textIn(item, 'outcome') ?? '')}
            {textIn(item, 'residue') === null ? '' : `; stays: ${textIn(item, 'residue') ?? ''}`}
          </li>
        ))}
      </ul>
    </section>
  );
}
