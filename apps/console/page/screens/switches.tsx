// Kill switches: what stands, and setting or lifting one by typing its name.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { commanded, contracts, underKey } from '../api/clients.js';
import { rowsQuery } from '../api/lists.js';
import { numberIn, textIn } from '../api/rows.js';
import type { Person, Row } from '../api/shapes.js';
import { usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import { useDraft } from '../parts/draft.js';
import type { Verb } from '../parts/verb.js';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Card, Tag, Text, Time } from '../parts/shown.tsx';
import {
  entryOf,
  liftHappens,
  nameOf,
  notYet,
  ownerWords,
  refusedSwitch,
  scopeWords,
  stopHappens,
  stoppingIn,
  typedOf,
} from './switches.rules.js';

const query = rowsQuery('contracts', ['kill_switch'], (more) =>
  contracts.GET('/v1/entries/{kind}', {
    params: { path: { kind: 'kill_switch' }, query: { limit: 200, retired: 'false', ...more } },
  }),
);

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Switch',
    cell: (row) => (
      <Tag kind="halted">
        <Text>{textIn(row, 'name') ?? ''}</Text>
      </Tag>
    ),
  },
  { name: 'Whose', cell: (row) => <Text>{ownerWords(textIn(row, 'tenant') ?? '')}</Text> },
  { name: 'Stops', cell: (row) => <Text>{scopeWords(row)}</Text> },
  { name: 'Why', cell: (row) => <Text>{textIn(row, 'entry', 'reason') ?? ''}</Text> },
  {
    name: 'By',
    cell: (row) => (
      <>
        <Text>{textIn(row, 'registered_by') ?? ''}</Text> <Time at={numberIn(row, 'registered_at') ?? 0} />
      </>
    ),
  },
  { name: 'Lift', cell: (row) => <Lift row={row} /> },
];

export function Switches(): ReactNode {
  const person = usePerson();
  const { data, error } = useQuery(query);
  const refused = refusedSwitch(person, person.tenant);
  return (
    <Card title="Kill switches">
      <Listing
        what="kill switches"
        columns={COLUMNS}
        items={data?.items}
        isCut={data?.isCut}
        error={error}
        keyOf={(row) => `${textIn(row, 'tenant') ?? ''} ${textIn(row, 'name') ?? ''}`}
        none="No switch is set: nothing is stopped."
      />
      {refused === null ? <Stop person={person} /> : <p className="quiet">{refused}</p>}
    </Card>
  );
}

function Lift({ row }: { readonly row: Row }): ReactNode {
  const person = usePerson();
  const [isOpen, setOpen] = useState(false);
  const [name, owner] = [textIn(row, 'name') ?? '', textIn(row, 'tenant') ?? ''];
  const verb: Verb = {
    name: `Lift ${typedOf(name, owner)}`,
    isGrave: true,
    typed: typedOf(name, owner),
    happens: liftHappens(row),
    blocked: refusedSwitch(person, owner),
    send: ({ reason, key }) =>
      commanded(
        contracts.POST('/v1/entries/{kind}/{name}/retire', {
          params: { path: { kind: 'kill_switch', name }, header: underKey(key) },
          body: { reason, tenant: owner },
        }),
      ),
  };
  return <Decision verb={verb} about={`switch.${owner}.${name}`} isOpen={isOpen} onOpen={setOpen} />;
}

const SEVERITY = {
  name: 'severity',
  label: 'How bad',
  options: [
    ['sev1', '1: harm now'],
    ['sev2', '2: soon'],
    ['sev3', '3: today'],
    ['sev4', '4: a drill'],
  ],
} as const;

/** What to stop, and whose, is said first; the window then says what that means, and wants both typed. */
function Stop({ person }: { readonly person: Person }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [typed, write] = useDraft('switch');
  const stopping = stoppingIn(typed, person.tenant);
  const { owner, over, what, haltsUndoing } = stopping;
  const name = nameOf(stopping);
  const verb: Verb = {
    name: 'Stop it',
    isGrave: true,
    typed: typedOf(name, owner),
    happens: stopHappens(stopping),
    choices: [SEVERITY],
    notes: [{ name: 'runbook', label: 'Where it is written what to do now (required)', isRequired: true }],
    blocked: notYet(stopping, person),
    send: ({ reason, fields, key }) =>
      commanded(
        contracts.POST('/v1/entries/{kind}', {
          params: { path: { kind: 'kill_switch' }, header: underKey(key) },
          body: { name, tenant: owner, entry: entryOf(stopping, { by: person.subject, reason, fields }) },
        }),
      ),
  };
  const said = (field: string) => (text: string) => {
    write(field, text);
  };
  return (
    <div className="filters">
      {person.tenant === '*' ? (
        <Named label="Whose" hint="a tenant, or * for all" value={typed['tenant'] ?? ''} onName={said('tenant')} />
      ) : null}
      <Chosen label="Stop" value={over} options={OVERS} onChoice={said('over')} />
      {over === 'tenant' ? null : (
        <Named
          label="Which"
          hint={over === 'agent' ? 'agent' : 'adapter.verb_noun'}
          value={what}
          onName={said('what')}
        />
      )}
      {over === 'agent' ? (
        <Chosen
          label="What it did"
          value={haltsUndoing ? 'halts' : 'goes_on'}
          options={UNDOING}
          onChoice={said('undoing')}
        />
      ) : null}
      <Decision verb={verb} about={`switch.${owner}.${name}`} isOpen={isOpen} onOpen={setOpen} />
    </div>
  );
}

type Options = readonly (readonly [value: string, says: string])[];

const OVERS: Options = [
  ['capability', 'a capability'],
  ['agent', 'an agent'],
  ['tenant', 'everything'],
];
const UNDOING: Options = [
  ['goes_on', 'is undone as before'],
  ['halts', 'is not undone either while this stands'],
];

interface ChosenProps {
  readonly label: string;
  readonly value: string;
  readonly options: Options;
  readonly onChoice: (value: string) => void;
}

function Chosen({ label, value, options, onChoice }: ChosenProps): ReactNode {
  return (
    <label>
      {label}
      <select
        value={value}
        onChange={({ target }) => {
          onChoice(target.value);
        }}
      >
        {options.map(([option, says]) => (
          <option key={option} value={option}>
            {says}
          </option>
        ))}
      </select>
    </label>
  );
}

interface NamedProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onName: (name: string) => void;
}

function Named({ label, hint, value, onName }: NamedProps): ReactNode {
  return (
    <label>
      {label}
      <input
        value={value}
        maxLength={NAME_MAX}
        placeholder={hint}
        onChange={({ target }) => {
          onName(target.value);
        }}
      />
    </label>
  );
}
/** Of an agent; others are shorter. */
const NAME_MAX = 200;
