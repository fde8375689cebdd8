// Kill switches: what stands, and setting or lifting one by typing its name.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { commanded, contracts, underKey } from '../api/clients.js';
import { rowsQuery } from '../api/lists.js';
import { numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { isOneOf, usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.js';
import type { Verb } from '../parts/decision.js';
import { Listing } from '../parts/listing.js';
import type { Column } from '../parts/listing.js';
import { Card, Tag, Text, Time } from '../parts/shown.js';

const query = rowsQuery('contracts', ['kill_switch'], () =>
  contracts.GET('/v1/entries/{kind}', { params: { path: { kind: 'kill_switch' }, query: { limit: 200 } } }),
);

function scopeWords(row: Row): string {
  const over = textIn(row, 'entry', 'scope', 'over');
  if (over === 'tenant') return 'everything of the tenant';
  return `${over ?? 'something'} ${textIn(row, 'entry', 'scope', over ?? '') ?? ''}`;
}

const COLUMNS: readonly Column<Row>[] = [
  {
    name: 'Switch',
    cell: (row) => (
      <Tag kind="halted">
        <Text>{textIn(row, 'name') ?? ''}</Text>
      </Tag>
    ),
  },
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
  const may = isOneOf(person, ['operator', 'administrator', 'platform_editor']);
  const standing = data?.filter((row) => row['retired'] !== true);
  return (
    <Card title="Kill switches">
      <Listing
        what="kill switches"
        columns={COLUMNS}
        items={standing}
        error={error}
        keyOf={(row) => `${textIn(row, 'tenant') ?? ''} ${textIn(row, 'name') ?? ''}`}
        none="No switch is set: nothing is stopped."
      />
      {may ? (
        <Stop person={person.subject} />
      ) : (
        <p className="quiet">Only an operator or administrator stops things.</p>
      )}
    </Card>
  );
}

function Lift({ row }: { readonly row: Row }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const name = textIn(row, 'name') ?? '';
  const verb: Verb = {
    name: `Lift ${name}`,
    isGrave: true,
    typed: name,
    happens: [`What it stops goes on at once: ${scopeWords(row)}.`, 'Halted steps are decided again.'],
    send: ({ reason, key }) =>
      commanded(
        contracts.POST('/v1/entries/{kind}/{name}/retire', {
          params: { path: { kind: 'kill_switch', name }, header: underKey(key) },
          body: { reason },
        }),
      ),
  };
  return <Decision verb={verb} about={`switch.${name}`} isOpen={isOpen} onOpen={setOpen} />;
}

type Over = 'tenant' | 'agent' | 'capability';

/** What to stop is said first; the window then says what that means, and wants the name typed. */
function Stop({ person }: { readonly person: string }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const [over, setOver] = useState<Over>('capability');
  const [what, setWhat] = useState('');
  const name = `stop-${over === 'tenant' ? 'all' : what.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`;
  const verb: Verb = {
    name: 'Stop it',
    isGrave: true,
    typed: name,
    happens: [
      over === 'tenant'
        ? 'Nothing of the tenant is dispatched any more, forward or back.'
        : `Nothing of the ${over} ${what} is dispatched any more.`,
      'Compensations that would go out halt and appear in the inbox. Windows go on closing meanwhile.',
      'It stands until somebody lifts it.',
    ],
    choices: [
      {
        name: 'severity',
        label: 'How bad',
        options: [
          ['sev1', '1: harm now'],
          ['sev2', '2: soon'],
          ['sev3', '3: today'],
          ['sev4', '4: a drill'],
        ],
      },
    ],
    note: { name: 'runbook', label: 'Where it is written what to do now' },
    blocked: over !== 'tenant' && what.trim() === '' ? 'Say what to stop first.' : null,
    send: ({ reason, fields, key }) =>
      commanded(
        contracts.POST('/v1/entries/{kind}', {
          params: { path: { kind: 'kill_switch' }, header: underKey(key) },
          body: {
            name,
            entry: {
              owner: person,
              doc: reason,
              scope: over === 'tenant' ? { over } : { over, [over]: what.trim() },
              severity: fields['severity'] ?? 'sev3',
              runbook: fields['runbook'] ?? '',
              reason,
            },
          },
        }),
      ),
  };
  return (
    <div className="filters">
      <label>
        Stop
        <select
          value={over}
          onChange={({ target }) => {
            setOver(target.value === 'tenant' || target.value === 'agent' ? target.value : 'capability');
          }}
        >
          <option value="capability">a capability</option>
          <option value="agent">an agent</option>
          <option value="tenant">everything of the tenant</option>
        </select>
      </label>
      {over === 'tenant' ? null : (
        <label>
          Which
          <input
            value={what}
            maxLength={170}
            placeholder={over === 'agent' ? 'agent' : 'adapter.verb_noun'}
            onChange={({ target }) => {
              setWhat(target.value);
            }}
          />
        </label>
      )}
      <Decision verb={verb} about={`switch.${name}`} isOpen={isOpen} onOpen={setOpen} />
    </div>
  );
}
