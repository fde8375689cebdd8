// What is seen on the wires and in a process, in the one form a detector judges. Pure.
import { readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { LegReported, ObservationPhase, Payload, ToolExecuted, ToolOutcome } from '@recourse/messages';
import type { Sighting, SightingKind } from './detector.messages.js';

/** One return of a tool, as whoever called it knows it. */
export interface ToolReturn {
  readonly tenant: string;
  readonly runId: string;
  readonly capability: string;
  readonly args: Json;
  readonly result: Json;
  readonly outcome: ToolOutcome;
  /** When it took hold, epoch milliseconds of the caller. */
  readonly committedAt: number;
}

/** A tool's return as a sighting: rules read `observed.args`, `observed.result` and `observed.outcome`. */
export function toolReturn({ tenant, runId, capability, args, result, outcome, committedAt }: ToolReturn): Sighting {
  return {
    tenant,
    runId,
    kind: 'tool_return',
    source: capability,
    facts: { args, result, outcome },
    seenAt: committedAt,
  };
}

const KIND_OF_PHASE = {
  reconcile: 'observation',
  stale_check: 'observation',
  execute: 'tool_return',
  verify: 'verifier',
} as const satisfies Record<ObservationPhase, SightingKind>;

/** What an execution shows. Errors: PayloadUnreadable. */
export function sightingsOfExecution({
  tenant,
  run_id,
  capability,
  args,
  result,
  outcome,
  committed_at,
}: ToolExecuted): readonly Sighting[] {
  return [
    toolReturn({
      tenant,
      runId: run_id,
      capability,
      args: readPayload(args),
      result: resultOf(result),
      outcome,
      committedAt: committed_at,
    }),
  ];
}

/** What the leg of a worker shows, once it is over: rules read `observed.phase` and `observed.result`. Errors: PayloadUnreadable. */
export function sightingsOfReport({ tenant, run_id, complete, steps }: LegReported): readonly Sighting[] {
  // A report of a leg under way says nothing that the complete one does not.
  if (!complete) return [];
  return steps
    .flatMap(({ observations }) => observations)
    .map(({ phase, capability, observed, observed_at }) => ({
      tenant,
      runId: run_id,
      kind: KIND_OF_PHASE[phase],
      source: capability,
      facts: { phase, result: readPayload(observed) },
      seenAt: observed_at,
    }));
}

const resultOf = (payload: Payload | null): Json => (payload === null ? null : readPayload(payload));
