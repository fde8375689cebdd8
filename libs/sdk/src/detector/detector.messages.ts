// What a detector is shown, by what rules it judges, and what it makes of it.
import type { Json } from '@recourse/kernel';
import type { SourceKind } from '@recourse/messages';
import type { Statement } from '../producer/producer.js';

/** Kinds of evidence a detector is shown (E6); re-evaluation of policies is the ledger's own. */
export const SIGHTING_KINDS = [
  'tool_return',
  'verifier',
  'observation',
  'human',
] as const satisfies readonly SourceKind[];
/** Kind of evidence. */
export type SightingKind = (typeof SIGHTING_KINDS)[number];

/** What evidence speaks against: an assumption, or one commit by its id. */
export type Offender =
  { readonly ref: string; readonly runId?: string } | { readonly runId: string; readonly commitId: string };

/** Something that was seen: a tool's return, a verifier's output, an observation, a person's verdict. */
export interface Sighting {
  readonly tenant: string;
  /** Run it was seen in; null for the world outside. */
  readonly runId: string | null;
  readonly kind: SightingKind;
  /** Who saw it: the capability, the verifier, the sensor, the person. */
  readonly source: string;
  /** What was seen. */
  readonly facts: Json;
  /** When, epoch milliseconds of the source. */
  readonly seenAt: number;
  /** What it speaks against, where whoever saw it says so. */
  readonly about?: Offender;
}

/** How a rule finds what the evidence speaks against. */
export type OffenderRule =
  /** `order/{/args/order_id}#paid`: JSON pointers into the facts, in braces. `isOfRun` limits the ref to the run of the sighting. */
  | { readonly ref: string; readonly isOfRun?: boolean }
  /** JSON pointers to run and commit. */
  | { readonly run: string; readonly commit: string }
  /** Whoever saw it names it. */
  | 'named';

/** When something seen is evidence that something committed should not stand. */
export interface DetectorRule {
  readonly name: string;
  readonly kinds: readonly SightingKind[];
  /** Sources it is about; `*` ends a prefix. */
  readonly sources: readonly string[];
  /** CEL over `observed`: what would have to hold for the commit to be admitted on what is known now (E7). */
  readonly expects: string;
  readonly offender: OffenderRule;
}

/** Evidence on its way: an assumption contradicted, or one commit named. `eventId` follows from the cause, so duplicates collapse. */
export type Trigger =
  | {
      readonly on: 'assumption';
      readonly eventId: string;
      readonly rule: string;
      readonly statement: Statement & { readonly sourceKind: SightingKind };
    }
  | {
      readonly on: 'commit';
      readonly eventId: string;
      readonly rule: string;
      readonly tenant: string;
      readonly runId: string;
      readonly commitId: string;
      readonly reason: string;
    };

/** Every reason why no trigger was made, with its remedy. */
export const DETECTION_REMEDIES = {
  TRIGGER_WITHOUT_EVIDENCE: 'Show what was seen: facts that hold nothing are no evidence.',
  TRIGGER_WITHOUT_OFFENDER: 'Name what the evidence speaks against, or let the facts hold what the rule reads.',
  TRIGGER_UNDECIDED: 'Show facts that the rule can read: what cannot be judged rolls nothing back.',
  REF_RESERVED: 'Name the commit by run and id: nobody states refs of commits.',
} as const;
/** Code of a trigger that was not made. */
export type DetectionRefusalCode = keyof typeof DETECTION_REMEDIES;
/** Why a rule that was concerned made no trigger. */
export interface DetectionRefusal {
  readonly code: DetectionRefusalCode;
  readonly rule: string;
  readonly reason: string;
}

/** What a sighting means under the rules. */
export interface Detection {
  readonly triggers: readonly Trigger[];
  readonly refusals: readonly DetectionRefusal[];
}
