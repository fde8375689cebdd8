// Why things land with people, of both services that know a part: what agents did, and the recoveries of it (C72). Pure.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';

/** Answers of the ledger and of the orchestrator. */
export interface ManualSources {
  readonly actions: Doc;
  readonly recoveries: Doc;
}

export interface ManualReport {
  /** Each says what it is `of`: an action or a recovery. The most frequent first. */
  readonly items: readonly Doc[];
  /** True when a service had more rows than were asked for. */
  readonly more: boolean;
  /** Tools whose outcomes often cannot be proven, the largest part first. */
  readonly pointed_out: readonly Doc[];
}

/** Puts both into one ranking. */
export function manualOf({ actions, recoveries }: ManualSources): ManualReport {
  const both = (name: string): readonly Doc[] => [
    ...rowsIn(actions[name]).map((row) => ({ of: 'action', ...row })),
    ...rowsIn(recoveries[name]).map((row) => ({ of: 'recovery', ...row })),
  ];
  return {
    items: both('items').toSorted(largest('times')),
    more: actions['more'] === true || recoveries['more'] === true,
    pointed_out: both('pointed_out').toSorted(largest('share')),
  };
}

function rowsIn(rows: unknown): readonly Doc[] {
  return Array.isArray(rows) ? rows.map(docOf) : [];
}

function largest(name: string): (one: Doc, other: Doc) => number {
  return (one, other) => Number(other[name]) - Number(one[name]);
}
