// Reports of why a tool's actions or recoveries land with people, and which tools they point out: those whose outcomes often
// cannot be proven (C72). Pure; a service says which of its reasons mean that.
import type { Limited } from './outbound/sql.js';

/** A tool is pointed out from so many such times on, when they are at least so large a part of all that ended. */
const POINTED_OUT = { times: 3, share: 0.1 } as const;

/** How often what a tool did landed with a person for one reason, out of all that ended. */
export interface ManualReason {
  readonly tenant: string;
  readonly capability: string;
  readonly reason: string;
  readonly times: number;
  readonly ended: number;
}

/** A tool whose outcomes often cannot be proven. */
export interface PointedOut {
  readonly tenant: string;
  readonly capability: string;
  /** Times its outcome could not be proven. */
  readonly unprovable: number;
  readonly ended: number;
  /** Share of those that ended, from 0 to 1. */
  readonly share: number;
}

/** What such a report answers. */
export interface ManualReport extends Limited<
  ManualReason & { readonly share: number; readonly is_unprovable: boolean }
> {
  readonly pointed_out: readonly PointedOut[];
}

/** The report over counted reasons. `isUnprovable`: nobody could prove what happened, or what would undo it; the rest are known ends. */
export function manualReport(
  { items, more }: Limited<ManualReason>,
  isUnprovable: (reason: string) => boolean,
): ManualReport {
  return {
    items: items.map((row) => ({
      ...row,
      share: shareOf(row.times, row.ended),
      is_unprovable: isUnprovable(row.reason),
    })),
    more,
    pointed_out: pointedOut(items, isUnprovable),
  };
}

/** Share of those that ended, from 0 to 1, to four digits. */
function shareOf(times: number, ended: number): number {
  return ended === 0 ? 0 : Math.round((times / ended) * 10_000) / 10_000;
}

/** The largest part first. */
function pointedOut(
  reasons: readonly ManualReason[],
  isUnprovable: (reason: string) => boolean,
): readonly PointedOut[] {
  const tools = new Map<string, PointedOut>();
  for (const { tenant, capability, reason, times, ended } of reasons) {
    if (!isUnprovable(reason)) continue;
    const id = JSON.stringify([tenant, capability]);
    const unprovable = (tools.get(id)?.unprovable ?? 0) + times;
    tools.set(id, { tenant, capability, unprovable, ended, share: shareOf(unprovable, ended) });
  }
  return [...tools.values()]
    .filter(({ unprovable, share }) => unprovable >= POINTED_OUT.times && share >= POINTED_OUT.share)
    .sort((a, b) => b.share - a.share || b.unprovable - a.unprovable);
}
