// The chains and their heads, the loops and their lag, what is parked, and the switches that stop things.
import { useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { answered, budgets, contracts, EDGES, EDGE_WORDS, ledger, notifier, recoveries } from '../api/clients.js';
import type { EdgeName } from '../api/clients.js';
import { rowsQuery } from '../api/lists.js';
import type { More } from '../api/pages.js';
import { textIn } from '../api/rows.js';
import { STATUS } from '../api/shapes.js';
import type { Loop, Row } from '../api/shapes.js';
import { isOneOf, usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import { Listing } from '../parts/listing.tsx';
import type { Column } from '../parts/listing.tsx';
import { Card, Id, Tag, Text, Time, Code } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { troubleOf } from './health.rules.js';
import type { Trouble as ServiceTrouble } from './health.rules.js';
import { parkedVerbs, PARKING } from './parked.verbs.js';
import type { ParkingEdge } from './parked.verbs.js';
import { Switches } from './switches.tsx';

const STATUS_OF = {
  contracts: () => answered(STATUS, contracts.GET('/v1/status')),
  ledger: () => answered(STATUS, ledger.GET('/v1/status')),
  recoveries: () => answered(STATUS, recoveries.GET('/v1/status')),
  budgets: () => answered(STATUS, budgets.GET('/v1/status')),
  notifier: () => answered(STATUS, notifier.GET('/v1/status')),
} as const;

export function Health(): ReactNode {
  const person = usePerson();
  const isOverseer = person.tenant === '*' && isOneOf(person, ['auditor', 'administrator']);
  return (
    <>
      <header className="screen">
        <h1>Audit and health</h1>
        <p className="quiet">
          Each log is a chain that anybody can verify offline: <code>npx recourse audit verify</code>
        </p>
      </header>
      <Switches />
      <Loops />
      <Card title="Parked records">
        {isOverseer ? (
          <Parked />
        ) : (
          <p>
            Records that could not be taken belong to no tenant: only an auditor or administrator of all tenants sees
            them.
          </p>
        )}
      </Card>
    </>
  );
}

interface LoopRow extends Loop {
  readonly edge: EdgeName;
}

const LOOPS: readonly Column<LoopRow>[] = [
  { name: 'Service', cell: ({ edge }) => EDGE_WORDS[edge] },
  { name: 'Log', cell: ({ log, partition }) => <code>{`${log}/${partition}`}</code> },
  {
    name: 'Is',
    cell: ({ state, problem }) => (
      <>
        <Tag kind={state}>{state}</Tag> {problem === null || problem === undefined ? '' : <Text>{problem}</Text>}
      </>
    ),
  },
  { name: 'Head', isNumber: true, cell: ({ seq, projectedSeq }) => (seq ?? projectedSeq).toLocaleString('en') },
  {
    name: 'Rows behind',
    isNumber: true,
    cell: ({ seq, projectedSeq }) => ((seq ?? projectedSeq) - projectedSeq).toLocaleString('en'),
  },
  { name: 'Waiting', isNumber: true, cell: ({ waiting }) => waiting?.toLocaleString('en') ?? 'not told' },
  {
    name: 'Owes since',
    cell: ({ owedSince }) => (typeof owedSince === 'number' ? <Time at={owedSince} /> : 'nothing'),
  },
];

/** No record moves when a loop halts, or what it waits for comes back. */
const AGAIN_MS = 5_000;

function Loops(): ReactNode {
  const all = useQueries({
    queries: EDGES.map((edge) => ({
      queryKey: [edge, 'status'],
      queryFn: STATUS_OF[edge],
      refetchInterval: AGAIN_MS,
    })),
  });
  const rows = all.flatMap(({ data }, index) =>
    (data?.detail.loops ?? []).map((loop): LoopRow => ({ ...loop, edge: EDGES[index] ?? 'ledger' })),
  );
  const isReading = all.some(({ isPending }) => isPending);
  return (
    <Card title="Loops">
      {all.map(({ data, error }, index) =>
        error === null ? (
          <Unwell
            key={EDGES[index]}
            edge={EDGES[index] ?? 'ledger'}
            trouble={data === undefined ? null : troubleOf(data)}
          />
        ) : (
          <Away key={EDGES[index]} edge={EDGES[index] ?? 'ledger'} cause={error} />
        ),
      )}
      {isReading && rows.length === 0 ? <Waiting what="how the services are" /> : null}
      <Listing
        what="loops"
        columns={LOOPS}
        items={rows}
        error={null}
        keyOf={({ edge, log, partition }) => `${edge} ${log} ${partition}`}
        none="No loop has answered yet."
      />
    </Card>
  );
}

function Unwell({ edge, trouble }: { readonly edge: EdgeName; readonly trouble: ServiceTrouble | null }): ReactNode {
  if (trouble === null) return null;
  const { says, code, detail } = trouble;
  return (
    <p className="notice" role="status">
      <b>{EDGE_WORDS[edge]}</b> {says}
      {code === null ? '.' : ': '}
      {code === null ? null : <Code>{code}</Code>} {detail === null ? null : <Text>{detail}</Text>}
    </p>
  );
}

function Away({ edge, cause }: { readonly edge: EdgeName; readonly cause: unknown }): ReactNode {
  return (
    <div>
      <b>{EDGE_WORDS[edge]}</b> <Trouble cause={cause} />
    </div>
  );
}

const open = (more: More) => ({ params: { query: { limit: 200, open: 'true' as const, ...more } } });
const PARKED_OF = {
  contracts: (more: More) => contracts.GET('/v1/parked', open(more)),
  ledger: (more: More) => ledger.GET('/v1/parked', open(more)),
  recoveries: (more: More) => recoveries.GET('/v1/parked', open(more)),
  budgets: (more: More) => budgets.GET('/v1/parked', open(more)),
} as const;

function Parked(): ReactNode {
  return PARKING.map((edge) => <ParkedAt key={edge} edge={edge} />);
}

function ParkedAt({ edge }: { readonly edge: ParkingEdge }): ReactNode {
  const { data, error } = useQuery(rowsQuery(edge, ['parked'], PARKED_OF[edge]));
  const columns: readonly Column<Row>[] = [
    { name: 'Record', cell: (row) => <Id>{parkedId(row)}</Id> },
    { name: 'Why', cell: (row) => <Code>{textIn(row, 'reason') ?? textIn(row, 'code')}</Code> },
    { name: 'Of', cell: (row) => <Code>{textIn(row, 'topic') ?? textIn(row, 'origin', 'topic')}</Code> },
    { name: 'What to do', cell: (row) => <Ways edge={edge} id={parkedId(row)} /> },
  ];
  return (
    <>
      <h3>{EDGE_WORDS[edge]}</h3>
      <Listing
        what={`parked records of ${EDGE_WORDS[edge]}`}
        columns={columns}
        items={data?.items}
        isCut={data?.isCut}
        error={error}
        keyOf={parkedId}
        none="Nothing is parked."
      />
    </>
  );
}

const parkedId = (row: Row): string => textIn(row, 'parked_id') ?? textIn(row, 'row_key') ?? textIn(row, 'id') ?? '';

function Ways({ edge, id }: { readonly edge: ParkingEdge; readonly id: string }): ReactNode {
  const [isOpen, setOpen] = useState<string | null>(null);
  return parkedVerbs(edge, id, usePerson().roles).map((verb) => (
    <Decision
      key={verb.name}
      verb={verb}
      about={`parked.${id}`}
      isOpen={isOpen === verb.name}
      onOpen={(opens) => {
        setOpen(opens ? verb.name : null);
      }}
    />
  ));
}
