// One contract of one owner: its newest version, whether that is the one that binds, and any two side by side.
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { contracts } from '../api/clients.js';
import { rowQuery } from '../api/lists.js';
import { fieldIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { Difference } from '../parts/difference.tsx';
import { Card, Fact, Facts, Id, Json, Text, Time } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { versionsQuery } from './contracts.query.js';
import { bindsWords, ownerWords, versionsOf } from './proposals.rules.js';

export function ContractScreen(): ReactNode {
  const { name } = useParams({ from: '/contracts/$name' });
  const { of } = useSearch({ from: '/contracts/$name' });
  const binding = useQuery(
    rowQuery('contracts', ['contract', name], () =>
      contracts.GET('/v1/contracts/{name}', { params: { path: { name } } }),
    ),
  );
  const all = useQuery(versionsQuery(name));
  const error = binding.error ?? all.error;
  if (binding.data === undefined || all.data === undefined)
    return error === null ? <Waiting what="the contract" /> : <Trouble cause={error} />;
  const versions = versionsOf(all.data.items, of ?? textIn(binding.data, 'tenant'));
  const row = of === undefined ? binding.data : versions[0];
  if (row === undefined) return <p>Nobody of that name has a contract that is called so.</p>;
  return (
    <>
      {error === null ? null : <Trouble cause={error} isOld />}
      <Head name={name} row={row} binding={binding.data} />
      <Against row={row} versions={versions} />
      <Card title="In full">
        <Json value={fieldIn(row, 'contract')} />
      </Card>
    </>
  );
}

function Head({ name, row, binding }: { readonly name: string; readonly row: Row; readonly binding: Row }): ReactNode {
  return (
    <header className="screen">
      <h1>
        <code>{name}</code> version {numberIn(row, 'version')}
      </h1>
      <p className="lead">
        <Text>{textIn(row, 'contract', 'effect') ?? ''}</Text>
      </p>
      <Facts>
        <Fact name="Whose">
          <Text>{ownerWords(textIn(row, 'tenant'))}</Text>
        </Fact>
        <Fact name="Binds here">{bindsWords(row, binding)}</Fact>
        <Fact name="Registered by">
          <Text>{textIn(row, 'registered_by') ?? 'nobody that is named'}</Text>{' '}
          <Time at={numberIn(row, 'registered_at') ?? 0} />
        </Fact>
        <Fact name="Confirmed by">{textIn(row, 'confirmed_by') ?? 'nobody had to'}</Fact>
        <Fact name="Digest">
          <Id>{textIn(row, 'digest') ?? ''}</Id>
        </Fact>
      </Facts>
    </header>
  );
}

function Against({ row, versions }: { readonly row: Row; readonly versions: readonly Row[] }): ReactNode {
  const { against } = useSearch({ from: '/contracts/$name' });
  const navigate = useNavigate({ from: '/contracts/$name' });
  const version = numberIn(row, 'version') ?? 1;
  const older = versions.filter((one) => (numberIn(one, 'version') ?? 0) < version);
  const other = older.find((one) => numberIn(one, 'version') === against);
  if (older.length === 0) return null;
  return (
    <Card title="Versions side by side">
      <label>
        Compare with version{' '}
        <select
          value={other === undefined ? '' : against}
          onChange={({ target }) => {
            void navigate({ search: (now) => ({ ...now, against: Number(target.value) }), replace: true });
          }}
        >
          <option value="" disabled>
            choose
          </option>
          {older.map((one) => (
            <option key={numberIn(one, 'version')} value={numberIn(one, 'version') ?? ''}>
              {numberIn(one, 'version')}
            </option>
          ))}
        </select>
      </label>
      {other === undefined ? null : (
        <Difference
          then={fieldIn(other, 'contract')}
          now={fieldIn(row, 'contract')}
          names={[`Version ${against ?? ''}`, `Version ${version}`]}
        />
      )}
    </Card>
  );
}
