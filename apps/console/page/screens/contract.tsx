// One contract: its newest version, and any two side by side.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { contracts } from '../api/clients.js';
import { rowQuery } from '../api/lists.js';
import { fieldIn, numberIn, textIn } from '../api/rows.js';
import { Difference } from '../parts/difference.tsx';
import { Card, Fact, Facts, Id, Json, Text, Time } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';

export function ContractScreen(): ReactNode {
  const { name } = useParams({ from: '/contracts/$name' });
  const { against } = useSearch({ from: '/contracts/$name' });
  const { data, error } = useQuery(
    rowQuery('contracts', ['contract', name], () =>
      contracts.GET('/v1/contracts/{name}', { params: { path: { name } } }),
    ),
  );
  if (data === undefined) return error === null ? <Waiting what="the contract" /> : <Trouble cause={error} />;
  const version = numberIn(data, 'version') ?? 1;
  return (
    <>
      {error === null ? null : <Trouble cause={error} isOld />}
      <header className="screen">
        <h1>
          <code>{name}</code> version {version}
        </h1>
        <p className="lead">
          <Text>{textIn(data, 'contract', 'effect') ?? ''}</Text>
        </p>
        <Facts>
          <Fact name="Registered by">
            <Text>{textIn(data, 'registered_by') ?? 'nobody that is named'}</Text>{' '}
            <Time at={numberIn(data, 'registered_at') ?? 0} />
          </Fact>
          <Fact name="Confirmed by">{textIn(data, 'confirmed_by') ?? 'nobody had to'}</Fact>
          <Fact name="Digest">
            <Id>{textIn(data, 'digest') ?? ''}</Id>
          </Fact>
        </Facts>
      </header>
      <Against name={name} version={version} against={against} now={fieldIn(data, 'contract')} />
      <Card title="In full">
        <Json value={fieldIn(data, 'contract')} />
      </Card>
    </>
  );
}

function Against({
  name,
  version,
  against,
  now,
}: {
  readonly name: string;
  readonly version: number;
  readonly against: number | undefined;
  readonly now: unknown;
}): ReactNode {
  const navigate = useNavigate({ from: '/contracts/$name' });
  const isAsked = against !== undefined && against !== version;
  const other = useQuery({
    ...rowQuery('contracts', ['contract', name, String(against)], () =>
      contracts.GET('/v1/contracts/{name}', { params: { path: { name }, query: { version: against ?? version } } }),
    ),
    enabled: isAsked,
  });
  if (version === 1) return null;
  return (
    <Card title="Versions side by side">
      <label>
        Compare with version{' '}
        <select
          value={against ?? ''}
          onChange={({ target }) => {
            void navigate({ search: { against: Number(target.value) }, replace: true });
          }}
        >
          <option value="" disabled>
            choose
          </option>
          {Array.from({ length: version - 1 }, (_, index) => version - 1 - index).map((older) => (
            <option key={older} value={older}>
              {older}
            </option>
          ))}
        </select>
      </label>
      {other.error === null ? null : <Trouble cause={other.error} />}
      {isAsked && other.data !== undefined ? (
        <Difference
          then={fieldIn(other.data, 'contract')}
          now={now}
          names={[`Version ${against}`, `Version ${version}`]}
        />
      ) : null}
    </Card>
  );
}
