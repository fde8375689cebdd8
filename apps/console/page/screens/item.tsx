// One item that is no step of a recovery: what its service knows of it, and the commands that end it.
import { useQuery } from '@tanstack/react-query';
import { useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { inboxQuery } from '../api/inbox.js';
import { textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { useKeys } from '../app/keys.tsx';
import { usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import { useHeld } from '../parts/held.js';
import { Card, Code, Fact, Facts, Id, Outward, Text, Time } from '../parts/shown.tsx';
import { RowFacts } from '../parts/row-facts.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { codeWords, kindWords } from '../words/kinds.js';
import { PLACES } from './item.reads.js';
import type { Place } from './item.reads.js';
import { factsOf, isSameItem, phaseWords } from './item.rules.js';
import { itemVerbs } from './item.verbs.js';
import { RunLink } from '../parts/links.tsx';
import { Previewed } from './run.undo.tsx';

export function ItemScreen(): ReactNode {
  const { kind, id } = useParams({ from: '/items/$kind/$id' });
  const { run = '' } = useSearch({ from: '/items/$kind/$id' });
  const [place, words] = [PLACES[kind], kindWords(kind)];
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
      {place === undefined ? null : <Known key={id} place={place} kind={kind} id={id} run={run} />}
      <Waits kind={kind} id={id} run={run} isKnown={place !== undefined} />
    </>
  );
}

interface WaitsProps {
  readonly kind: string;
  readonly id: string;
  readonly run: string;
  /** Is there something to read of it beside? */
  readonly isKnown: boolean;
}

/** What the list of all that waits says of it: whose it is, by when, and the command that ends it. */
function Waits({ kind, id, run, isKnown }: WaitsProps): ReactNode {
  const { data } = useQuery(inboxQuery);
  const item = data?.items.find((one) => one.kind === kind && one.id === id && (run === '' || one.run_id === run));
  if (item === undefined) return data === undefined || isKnown ? null : <p>Nothing of this kind and name waits.</p>;
  return (
    <Card title="As it waits">
      <Facts>
        <Fact name="Why">{codeWords(item.reason)}</Fact>
        <Fact name="Asked">
          <Text>{item.owner}</Text>
        </Fact>
        <Fact name="By when">
          <Time at={item.deadline_at} />
        </Fact>
        {item.log ? (
          <Fact name="In">
            <Code>{item.log}</Code>
          </Fact>
        ) : null}
        {item.runbook === null ? null : (
          <Fact name="Work from">
            <Outward to={item.runbook} />
          </Fact>
        )}
        <Fact name="At the command line">
          <Code>{item.way_out}</Code>
        </Fact>
      </Facts>
    </Card>
  );
}

interface KnownProps {
  readonly place: Place;
  readonly kind: string;
  readonly id: string;
  readonly run: string;
}

function Known({ place, kind, id, run }: KnownProps): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: [place.edge, 'row', 'item', kind, id, run],
    queryFn: () => place.read(id, run),
  });
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
        <RowFacts row={factsOf(data)} />
      </Card>
    </>
  );
}

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
  const verbs = itemVerbs(kind, seen, id, usePerson().roles);
  useKeys(
    Object.fromEntries(
      verbs.flatMap(({ key, name, blocked = null }) =>
        key === undefined || blocked !== null
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
      {kind === 'window' ? (
        <Previewed
          runId={run === '' ? (textIn(row, 'run_id') ?? '') : run}
          tenant={textIn(row, 'tenant')}
          mutationId={id}
        />
      ) : null}
      {verbs.length === 0 && kind !== 'window' ? <p>Nothing{phaseWords(row)}.</p> : null}
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
