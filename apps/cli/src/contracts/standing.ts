// Which versions in a list of the registry bind. Pure.
import { governing } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Doc } from '@recourse/sdk';
import { shaped } from './reading.js';

const ALL_TENANTS = '*';

/** The newest version of each capability and owner, retired or not: where it is retired, no older one binds. */
export function newestIn(rows: readonly Doc[]): readonly Doc[] {
  const newest = new Map<string, Doc>();
  for (const row of rows) {
    const key = `${String(row['tenant'])}\n${String(row['name'])}`;
    if (Number(newest.get(key)?.['version'] ?? 0) < Number(row['version'])) newest.set(key, row);
  }
  return [...newest.values()];
}

/** The versions that new calls are under. */
export function standingIn(rows: readonly Doc[]): readonly Doc[] {
  return newestIn(rows).filter((row) => row['retired'] !== true);
}

/** Each row with whether new calls are under it (`stands`): an older version is not, retired or not. */
export function withStanding(rows: readonly Doc[]): readonly Doc[] {
  const standing = new Set(standingIn(rows));
  return rows.map((row) => ({ ...row, stands: standing.has(row) }));
}

/** Of newest versions those of one capability: a tenant's own, or anybody's where nobody says whose, and the platform's. */
export function contractsIn(newest: readonly Doc[], name: string, tenant: string | null): readonly Contract[] {
  return [ownIn(newest, name, tenant), platformIn(newest, name)].flatMap((found) => found?.contract ?? []);
}

/** The one of them that binds. */
export function governingIn(newest: readonly Doc[], name: string, tenant: string | null): Contract | null {
  return governing(ownIn(newest, name, tenant), platformIn(newest, name))?.contract ?? null;
}

interface Found {
  readonly contract: Contract;
}

function ownIn(newest: readonly Doc[], name: string, tenant: string | null): Found | undefined {
  return foundIn(newest, name, (owner) => owner !== ALL_TENANTS && (tenant === null || owner === tenant));
}

function platformIn(newest: readonly Doc[], name: string): Found | undefined {
  return foundIn(newest, name, (owner) => owner === ALL_TENANTS);
}

function foundIn(newest: readonly Doc[], name: string, isOwner: (owner: string) => boolean): Found | undefined {
  const row = newest.find((each) => each['name'] === name && isOwner(String(each['tenant'])));
  // As it was registered: JSON.
  return row === undefined ? undefined : { contract: shaped(row['contract'] as Json, name) };
}
