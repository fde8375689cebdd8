// What the auditor can find, and who has to look at it. Pure.
import type { Finding } from '@recourse/chain';

/** What shows in a partition while it is followed, beside what its records show. */
export type Watched =
  /** Records of a wire, or the beginning of a log, were gone before they were read. */
  | { readonly kind: 'gap'; readonly seq: number | null; readonly offset: number }
  /** More void records than usual: somebody else writes, or an owner cannot. */
  | { readonly kind: 'void_rate'; readonly seq: number | null; readonly offset: number }
  /** The auditor's own heads in its file are not in its log. */
  | { readonly kind: 'heads_lost'; readonly seq: number | null; readonly offset: number }
  /** A witness has signed a head that this one does not extend. */
  | { readonly kind: 'witness_differs'; readonly seq: number | null; readonly offset: number };
export type AlarmKind = Finding['kind'] | Watched['kind'];

/** Something found in a partition. */
export interface Found {
  readonly kind: AlarmKind;
  readonly topic: string;
  readonly partition: number;
  readonly seq: number | null;
  readonly offset: number | null;
}

/** An alarm as it stands in the auditor's log. */
export interface Alarm extends Found {
  readonly id: string;
  readonly detail: string;
  readonly owner: string;
  /** Epoch milliseconds. */
  readonly deadlineAt: number;
  /** Of the heads that it was raised about, as its note says; null without a note of this auditor: somebody else may have written it. */
  readonly generation: number | null;
}

/** Findings that contradict a signed head: nothing is signed behind them until a person has closed the alarm. */
export const CONTRADICTING = [
  'cut_tail',
  'restored_backup',
  'rewritten',
  'regrown',
  'forked',
] as const satisfies readonly AlarmKind[];

/** What is over by itself once it is no longer so. */
export const PASSING = ['void_rate', 'missing', 'unknown_schema'] as const satisfies readonly AlarmKind[];

export const DETAILS: Readonly<Record<AlarmKind, string>> = {
  flipped: 'a record was altered',
  rekeyed: 'a record was given another key',
  schema_swapped: 'the frame of a record names another schema',
  reordered: 'records were moved',
  missing: 'records were taken out',
  foreign_genesis: 'records begin another chain',
  stray: 'a record follows none of this log',
  unreadable: 'there is a record that is none, or that its owner did not sign',
  unknown_schema: 'a schema is not known, and nothing behind it is verified',
  cut_tail: 'the log ends before a head that was signed',
  restored_backup: 'several logs end where they ended at an earlier instant: a backup was restored',
  rewritten: 'no head that was signed holds: history was rewritten',
  regrown: 'the log was cut and goes on with other records than were signed',
  forked: 'two heads of one length differ',
  inserted: 'records were put in before a head that was signed',
  removed: 'records were taken out before a head that was signed',
  gap: 'records were gone before they were read',
  void_rate: 'more records than usual are void',
  heads_lost: 'heads that were signed are no longer in the log of heads',
  witness_differs: 'a witness has signed a head that this log does not extend',
};
