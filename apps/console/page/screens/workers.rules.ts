// Adapters and what waits for their workers: those that contracts name, whether anything is asked of them or not. Pure.
import { numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';

export interface AdapterWait {
  readonly adapter: string;
  /** Null where nothing is asked. */
  readonly tenant: string | null;
  readonly asked: number;
  readonly silent: number;
  readonly oldestAt: number | null;
}

/** Prefixes of the capabilities that contracts name, and adapters that are asked all the same; each once, by name. */
export function adaptersOf(catalogue: readonly Row[], asked: readonly Row[]): readonly string[] {
  const named = catalogue.map((row) => (textIn(row, 'name') ?? '').split('.')[0] ?? '');
  const all = [...named, ...asked.map((row) => textIn(row, 'adapter') ?? '')];
  return [...new Set(all)].filter((adapter) => adapter !== '').sort();
}

/** The longest wait first, then adapters of which nothing is asked. */
export function waitsOf(adapters: readonly string[], asked: readonly Row[]): readonly AdapterWait[] {
  const waits = asked.map((row) => ({
    adapter: textIn(row, 'adapter') ?? '',
    tenant: textIn(row, 'tenant'),
    asked: numberIn(row, 'asked') ?? 0,
    silent: numberIn(row, 'silent') ?? 0,
    oldestAt: numberIn(row, 'oldest_at'),
  }));
  const idle = adapters.filter((adapter) => !waits.some((wait) => wait.adapter === adapter));
  return [...waits, ...idle.map((adapter) => ({ adapter, tenant: null, asked: 0, silent: 0, oldestAt: null }))];
}
