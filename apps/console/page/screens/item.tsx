// One item that is no step of a recovery: what its service knows of it, and the commands that end it.
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { rowQuery } from '../api/lists.js';
import type { Row } from '../api/shapes.js';
import { useKeys } from '../app/keys.tsx';
import { Decision } from '../parts/decision.tsx';
import { useHeld } from '../parts/held.js';
import { Card, Id } from '../parts/shown.tsx';
import { RowFacts } from '../parts/row-facts.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { kindWords } from '../words/kinds.js';
import { PLACES } from './item.verbs.js';
import { RunLink } from '../parts/links.tsx';

export function ItemScreen(): ReactNode {
  const { kind, id } = useParams({ from: '/items/$kind/$id' });
  const { run = '' } = useSearch({ from: '/items/$kind/$id' });
  const place = PLACES[kind];
  const words = kindWords(kind);
  return (
    <>
      <header className="screen">
        <h1>{words.name}</h1>
        <p className="lead">{words.asks}</p>
        {run === '' ? null : (
          <p>
            Run{' '}
            <RunLink id={run}>
              <Id>{run}</Id>
            </RunLink>
          </p>
        )}
      </header>
      {place === undefined ? (
        <p>The console knows no items of this kind.</p>
      ) : (
        <Known key={id} kind={kind} id={id} run={run} />
      )}
    </>
  );
}

function Known({ kind, id, run }: { readonly kind: string; readonly id: string; readonly run: string }): ReactNode {
  const place = PLACES[kind];
  const { data, error, refetch } = useQuery(
    rowQuery(
      place?.edge ?? 'ledger',
      ['item', kind, id, run],
      () => place?.read(id, run) ?? Promise.reject(new Error(kind)),
    ),
  );
  if (data === undefined)
    return error === null ? (
      <Waiting what="the item" />
    ) : (
      <Trouble
        cause={error}
        onAgain={() => {
          void refetch();
        }}
      />
    );
  return (
    <>
      {error === null ? null : <Trouble cause={error} isOld />}
      <Ways row={data} kind={kind} id={id} run={run} />
      <Card title="What is known of it">
        <RowFacts row={data} />
      </Card>
    </>
  );
}

const isSameItem = (seen: Row, now: Row): boolean =>
  seen['phase'] === now['phase'] && seen['action_digest'] === now['action_digest'];

function Ways({
  row,
  kind,
  id,
  run,
}: {
  readonly row: Row;
  readonly kind: string;
  readonly id: string;
  readonly run: string;
}): ReactNode {
  const { name: isOpen, seen, isChanged, open } = useHeld(row, isSameItem);
  const verbs = PLACES[kind]?.verbs(seen, id, run) ?? [];
  useKeys(
    Object.fromEntries(
      verbs.flatMap(({ key, name }) =>
        key === undefined
          ? []
          : [
              [
                key,
                () => {
                  open(name);
                },
              ] as const,
            ],
      ),
    ),
  );
  return (
    <Card title="What you can do">
      {kind === 'window' && run !== '' ? (
        <p>
          Undo it from its <RunLink id={run}>run</RunLink> while there is time.
        </p>
      ) : null}
      <div className="verbs">
        {verbs.map((verb) => (
          <Decision
            key={verb.name}
            verb={verb}
            about={`${kind}.${id}`}
            isOpen={isOpen === verb.name}
            isChanged={isOpen === verb.name && isChanged}
            onOpen={(opens) => {
              open(opens ? verb.name : null);
            }}
          />
        ))}
      </div>
    </Card>
  );
}
