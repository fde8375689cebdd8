// What one agent has earned at one kind of task: the eight signals, what holds it, how it came about, and a person's word on it.
import { useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { budgets, commanded } from '../api/clients.js';
import { rowQuery, rowsQuery } from '../api/lists.js';
import { numberIn, rowsIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { isOneOf, usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import type { Verb } from '../parts/verb.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Card, Fact, Facts, Parts, Tag, Text, Time } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { codeWords } from '../words/kinds.js';
import { at } from './verbs.js';

const CHANGES_MAX = 200;

export function AutonomyScreen(): ReactNode {
  const { id } = useParams({ from: '/autonomy/$id' });
  const { data, error } = useQuery(
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
      <Ways row={data} id={id} />
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

function Ways({ row, id }: { readonly row: Row; readonly id: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const person = usePerson();
  const verb = textIn(row, 'frozen_by') === null ? freeze(id) : unfreeze(id);
  const may = isOneOf(person, verb.name === 'Freeze' ? ['operator', ...DECIDERS] : DECIDERS);
  return (
    <Card title="What you can do">
      <Decision
        verb={may ? verb : { ...verb, blocked: 'None of your roles may do this.' }}
        about={`autonomy.${id}`}
        isOpen={isOpen}
        onOpen={setOpen}
      />
    </Card>
  );
}

const DECIDERS = ['approver', 'administrator'];

const freeze = (id: string): Verb => ({
  name: 'Freeze',
  happens: ['The agent rises no further at this kind of task. It may still fall.', 'What it does meanwhile goes on.'],
  send: ({ reason, key }) => commanded(budgets.POST('/v1/autonomy/{id}/freeze', { ...at(id, key), body: { reason } })),
});

const unfreeze = (id: string): Verb => ({
  name: 'Unfreeze',
  isMain: true,
  happens: ['The agent rises again as far as its score reaches, at the next signal or judgement.'],
  send: ({ reason, key }) =>
    commanded(budgets.POST('/v1/autonomy/{id}/unfreeze', { ...at(id, key), body: { reason } })),
});
