// Reading single fields of rows whose whole shape the console does not name. Pure.
import { MONEY, ROW } from './shapes.js';
import type { Money, Row } from './shapes.js';

export function fieldIn(row: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, name)) return undefined;
    return (at as Row)[name]; // an object, by the line above
  }, row);
}

export function textIn(row: unknown, ...path: readonly string[]): string | null {
  const found = fieldIn(row, ...path);
  return typeof found === 'string' ? found : null;
}

export function numberIn(row: unknown, ...path: readonly string[]): number | null {
  const found = fieldIn(row, ...path);
  return typeof found === 'number' ? found : null;
}

export function listIn(row: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = fieldIn(row, ...path);
  return Array.isArray(found) ? found : [];
}

/** Those of a list that are rows. */
export function rowsIn(row: unknown, ...path: readonly string[]): readonly Row[] {
  return listIn(row, ...path).flatMap((one) => {
    const read = ROW.safeParse(one);
    return read.success ? [read.data] : [];
  });
}

export function moneyIn(row: unknown, ...path: readonly string[]): Money | null {
  const read = MONEY.safeParse(fieldIn(row, ...path));
  return read.success ? read.data : null;
}

/** Whose a thing is, as its row says: who speaks for all tenants has to name one. */
export const ofTenant = (tenant: string | null | undefined) => (typeof tenant === 'string' ? { tenant } : {});
