// Weaker contracts that wait for a second person, each beside what binds now.
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { commanded, contracts, underKey } from '../api/clients.js';
import { rowsQuery } from '../api/lists.js';
import { textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import type { Verb } from '../parts/verb.js';
import { Difference } from '../parts/difference.tsx';
import { Card, Code, Fact, Facts, Id, Text } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { versionsQuery } from './contracts.query.js';
import { changeOf, confirmHappens, refusedConfirm } from './proposals.rules.js';

const proposalsQuery = rowsQuery('contracts', ['proposals'], (more) =>
  contracts.GET('/v1/contract-proposals', { params: { query: { limit: 500, ...more } } }),
);
export function Proposals(): ReactNode {
  const { data, error } = useQuery(proposalsQuery);
  return (
    <Card title="Waits for a second person">
      {error === null ? null : <Trouble cause={error} isOld={data !== undefined} />}
      {error === null && data === undefined ? <Waiting what="proposals" /> : null}
      {data?.items.length === 0 ? <p className="quiet">No proposal waits.</p> : null}
      {data?.isCut === true ? <p className="quiet">There are more than are listed here.</p> : null}
      {(data?.items ?? []).map((row) => (
        <Proposal key={`${textIn(row, 'tenant') ?? ''} ${textIn(row, 'digest') ?? ''}`} row={row} />
      ))}
    </Card>
  );
}

function Proposal({ row }: { readonly row: Row }): ReactNode {
  const [name, owner] = [textIn(row, 'name') ?? '', textIn(row, 'tenant') ?? ''];
  const { data, error } = useQuery(versionsQuery(name));
  const change = data === undefined ? null : changeOf(row, data.items);
  return (
    <section aria-label={`Proposal of ${name}`}>
      <h3>
        <Code>{name}</Code>
      </h3>
      <Facts>
        <Fact name="Whose">{owner === '*' ? 'the platform' : <Text>{owner}</Text>}</Fact>
        <Fact name="By">
          <Text>{textIn(row, 'proposed_by') ?? ''}</Text>
        </Fact>
        <Fact name="Digest">
          <Id>{textIn(row, 'digest') ?? ''}</Id>
        </Fact>
      </Facts>
      {error === null ? null : <Trouble cause={error} />}
      {change === null ? null : (
        <>
          <Difference then={change.then} now={change.now} names={['Binds now', 'Would bind']} />
          <Confirm row={row} name={name} owner={owner} />
        </>
      )}
    </section>
  );
}

interface ConfirmProps {
  readonly row: Row;
  readonly name: string;
  readonly owner: string;
}

function Confirm({ row, name, owner }: ConfirmProps): ReactNode {
  const person = usePerson();
  const [isOpen, setOpen] = useState(false);
  const digest = textIn(row, 'digest') ?? '';
  const verb: Verb = {
    name: `Confirm ${name}`,
    isUnexplained: true,
    happens: confirmHappens(row),
    blocked: refusedConfirm(person, row),
    send: ({ key }) =>
      commanded(
        contracts.POST('/v1/contracts/{name}/confirm', {
          params: { path: { name }, header: underKey(key) },
          body: { digest, tenant: owner },
        }),
      ),
  };
  return <Decision verb={verb} about={`contract.${owner}.${digest}`} isOpen={isOpen} onOpen={setOpen} />;
}
