// Two documents side by side, one line per leaf; what differs is marked, by word as well as by colour.
import type { ReactNode } from 'react';
import { inert } from './inert.js';
import { plain } from './shown.js';

export interface Line {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** One line per leaf of either document, by path. Pure. */
export function linesOf(before: unknown, after: unknown): readonly Line[] {
  const [a, b] = [leavesOf(plain(before)), leavesOf(plain(after))];
  return [...new Set([...a.keys(), ...b.keys()])]
    .sort()
    .map((path) => ({ path, before: a.get(path) ?? null, after: b.get(path) ?? null }));
}

function leavesOf(value: unknown, path = ''): ReadonlyMap<string, string> {
  if (typeof value !== 'object' || value === null)
    return value === undefined ? new Map() : new Map([[path === '' ? '·' : path, JSON.stringify(value)]]);
  const entries = Object.entries(value);
  if (entries.length === 0) return new Map([[path === '' ? '·' : path, Array.isArray(value) ? '[]' : '{}']]);
  return new Map(entries.flatMap(([name, member]) => [...leavesOf(member, path === '' ? name : `${path}.${name}`)]));
}

export function Difference({
  then,
  now,
  names,
}: {
  readonly then: unknown;
  readonly now: unknown;
  readonly names: readonly [string, string];
}): ReactNode {
  const lines = linesOf(then, now);
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={`${names[0]} and ${names[1]}`}>
      <table className="difference">
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">{names[0]}</th>
            <th scope="col">{names[1]}</th>
          </tr>
        </thead>
        <tbody>
          {lines.map(({ path, before, after }) => (
            <tr key={path} className={before === after ? '' : 'differs'}>
              <th scope="row">{inert(path)}</th>
              <td>{before === null ? <span className="quiet">nothing</span> : inert(before)}</td>
              <td>
                {after === null ? <span className="quiet">nothing</span> : inert(after)}
                {before === after ? null : <span className="mark"> differs</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
