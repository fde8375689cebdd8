// A table of rows, with a word where there are none, where they could not be read, and where they are from before.
import type { ReactNode } from 'react';
import { standingOf } from './reading.rules.js';
import { Trouble, Waiting } from './trouble.tsx';

export interface Column<Item> {
  readonly name: string;
  readonly cell: (item: Item) => ReactNode;
  readonly isNumber?: boolean;
}

interface Props<Item> {
  readonly what: string;
  readonly columns: readonly Column<Item>[];
  readonly items: readonly Item[] | undefined;
  /** There are more than these. */
  readonly isCut?: boolean | undefined;
  readonly error: unknown;
  readonly keyOf: (item: Item) => string;
  /** What it means that there is none. */
  readonly none: string;
}

export function Listing<Item>({ what, columns, items, isCut = false, error, keyOf, none }: Props<Item>): ReactNode {
  const standing = standingOf(items, error);
  if (items === undefined) return standing === 'failed' ? <Trouble cause={error} /> : <Waiting what={what} />;
  return (
    <>
      {standing === 'old' ? <Trouble cause={error} isOld /> : null}
      {items.length === 0 ? (
        <p className="quiet">{none}</p>
      ) : (
        <Table what={what} columns={columns} items={items} keyOf={keyOf} />
      )}
      {isCut ? <p className="quiet">{items.length.toLocaleString('en')} are shown; there are more.</p> : null}
    </>
  );
}

type TableProps<Item> = Pick<Props<Item>, 'what' | 'columns' | 'keyOf'> & { readonly items: readonly Item[] };

function Table<Item>({ what, columns, items, keyOf }: TableProps<Item>): ReactNode {
  return (
    <div className="scroll" tabIndex={0} role="group" aria-label={what}>
      <table>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" className={isNumber === true ? 'number' : ''}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map(({ name, cell, isNumber }) => (
                <td key={name} className={isNumber === true ? 'number' : ''}>
                  {cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
