// A row as a list of its fields: instants as times, money as amounts, payloads as what they hold.
import type { ReactNode } from 'react';
import { MONEY } from '../api/shapes.js';
import type { Row } from '../api/shapes.js';
import { Amount, Fact, Facts, Json, plain, Text, Time } from './shown.js';

export function RowFacts({ row }: { readonly row: Row }): ReactNode {
  return (
    <Facts>
      {Object.entries(row)
        .filter(([, value]) => value !== null && !(Array.isArray(value) && value.length === 0))
        .map(([name, value]) => (
          <Fact key={name} name={name.replaceAll('_', ' ')}>
            <Field name={name} value={value} />
          </Fact>
        ))}
    </Facts>
  );
}

export function Field({ name, value }: { readonly name: string; readonly value: unknown }): ReactNode {
  if (typeof value === 'number') return name.endsWith('_at') ? <Time at={value} /> : value.toLocaleString('en');
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'string') return <Text>{value}</Text>;
  const money = MONEY.safeParse(value);
  if (money.success) return <Amount value={money.data} />;
  return <Json value={plain(value)} />;
}
