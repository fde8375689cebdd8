// What one agent has earned at one kind of task: the eight signals, what holds it, how it came about, and a person's word on it.
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { budgets } from '../api/clients.js';
import { rowQuery, rowsQuery } from '../api/lists.js';
import { numberIn, rowsIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import { useHeld } from '../parts/held.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Card, Fact, Facts, Parts, Tag, Text, Time } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { codeWords } from '../words/kinds.js';
import { isSameStanding, standingVerb } from './autonomy.verbs.js';

const CHANGES_MAX = 200;

export function AutonomyScreen(): ReactNode {
  const { id } = useParams({ from: '/autonomy/$id' });
  const { data, error, refetch } = useQuery(
    rowQuery('budgets', ['autonomy', id], () => budgets.GET('/v1/autonomy/{id}', { params: { path: { id } } })),
  );
  if (data === undefined)
    return error === null ? <Waiting what="what the agent has earned" /> : <Trouble cause={error} />;
  return (
    <>
      {error === null ? null : <Trouble cause={error} isOld />}
      <header className="screen">
        <h1>
          <Text>{textIn(data, 'agent_id') ?? ''}</Text> at <Text>{textIn(data, 'task_kind') ?? ''}</Text>
        </h1>
        <p className="lead">{standingOf(data)}</p>
      </header>
      <Ways row={data} id={id} read={async () => (await refetch({ throwOnError: true })).data} />
      <Card title="Why">
        <Held row={data} />
        <Listing
          what="signals"
          columns={SIGNALS}
          items={rowsIn(data, 'signals')}
          error={null}
          keyOf={(row) => textIn(row, 'signal') ?? ''}
          none="Nobody has said anything of it."
        />
      </Card>
      <Changes id={id} />
    </>
  );
}

function standingOf(row: Row): string {
  const [rung, earned] = [textIn(row, 'rung') ?? '', textIn(row, 'earned') ?? ''];
  const held = textIn(row, 'capped_by');
  return held === null
    ? `It may ${codeWords(rung)}, as it has earned.`
    : `It may ${codeWords(rung)}. It has earned ${codeWords(earned)}, and ${codeWords(held)} holds it.`;
}

function Held({ row }: { readonly row: Row }): ReactNode {
  const instant = (name: string): ReactNode => {
    const found = numberIn(row, name);
    return found === null ? 'no' : <Time at={found} />;
  };
  return (
    <Facts>
      <Fact name="Score">
        <Parts of={row} name="score_ppm" />
      </Fact>
      <Fact name="Frozen by">{codeWords(textIn(row, 'frozen_by') ?? 'nobody')}</Fact>
      <Fact name="Frozen since">{instant('frozen_at')}</Fact>
      <Fact name="A violation holds it until">{instant('held_until')}</Fact>
      <Fact name="Judged anew">{instant('reconsider_at')}</Fact>
      <Fact name="Policy version">{numberIn(row, 'policy_version') ?? 'none'}</Fact>
    </Facts>
  );
}

const SIGNALS: readonly Column<Row>[] = [
  { name: 'Signal', cell: (row) => codeWords(textIn(row, 'signal') ?? '') },
  { name: 'Said', isNumber: true, cell: (row) => <Parts of={row} name="stated_ppm" none="nobody did" /> },
  { name: 'Counts', isNumber: true, cell: (row) => <Parts of={row} name="value_ppm" /> },
  { name: 'Weight', isNumber: true, cell: (row) => `${numberIn(row, 'weight_percent') ?? 0} %` },
  { name: 'By', cell: (row) => <Text>{textIn(row, 'source') ?? ''}</Text> },
  {
    name: 'When',
    cell: (row) => {
      const stated = numberIn(row, 'stated_at');
      return stated === null ? '' : <Time at={stated} />;
    },
  },
];

const CHANGES: readonly Column<Row>[] = [
  { name: 'When', cell: (row) => <Time at={numberIn(row, 'decided_at') ?? 0} /> },
  { name: 'Because of', cell: (row) => codeWords(textIn(row, 'cause') ?? '') },
  { name: 'What', cell: (row) => <Text>{textIn(row, 'signal') ?? textIn(row, 'mutation_id') ?? ''}</Text> },
  { name: 'By', cell: (row) => <Text>{textIn(row, 'by') ?? textIn(row, 'source') ?? ''}</Text> },
  { name: 'From', cell: (row) => codeWords(textIn(row, 'before') ?? '') },
  { name: 'To', cell: (row) => <Tag>{codeWords(textIn(row, 'rung') ?? '')}</Tag> },
  { name: 'Score', isNumber: true, cell: (row) => <Parts of={row} name="score_ppm" /> },
  { name: 'Why', cell: (row) => <Text>{textIn(row, 'reason') ?? ''}</Text> },
];

function Changes({ id }: { readonly id: string }): ReactNode {
  const { data, error } = useQuery(
    rowsQuery('budgets', ['autonomy-changes', id], (more) =>
      budgets.GET('/v1/autonomy-changes', { params: { query: { autonomy_id: id, limit: CHANGES_MAX, ...more } } }),
    ),
  );
  return (
    <Card title="How it came about">
      <Listing
        what="changes"
        columns={CHANGES}
        items={data?.items.toSorted((a, b) => (numberIn(b, 'decided_at') ?? 0) - (numberIn(a, 'decided_at') ?? 0))}
        isCut={data?.isCut}
        error={error}
        keyOf={(row) => textIn(row, 'change_id') ?? ''}
        none="Nothing has changed it yet."
      />
    </Card>
  );
}

interface WaysProps {
  readonly row: Row;
  readonly id: string;
  readonly read: () => Promise<Row | undefined>;
}

/** Whoever freezes it, or lets it go, is held to what they read: another may have been first. */
function Ways({ row, id, read }: WaysProps): ReactNode {
  const { name, seen, isChanged, open } = useHeld(row, isSameStanding);
  const verbs = standingVerb({ seen, id, read }, usePerson().roles);
  return (
    <Card title="What you can do">
      {verbs.map((verb) => (
        <Decision
          key={verb.name}
          verb={verb}
          about={`autonomy.${id}`}
          isOpen={name === verb.name}
          isChanged={name === verb.name && isChanged}
          onOpen={(opens) => {
            open(opens ? verb.name : null);
          }}
        />
      ))}
    </Card>
  );
}
