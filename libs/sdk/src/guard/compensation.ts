// A compensation is a tool call like any other: under its own contract, with its own record and debit (A62).
//
// Boundary: checks and reserves before the call, and publishes nothing: the ledger records the compensation from the verdict
// of the orchestrator, so there is one account of it, and the accountant settles the reservation by that record.
import type { Json } from '@recourse/kernel';
import { ToolRejected } from '../tool/tool.js';
import type { Tool, ToolContext } from '../tool/tool.js';
import { refuseUnusable } from './given.js';
import { runGuarded } from './guard.js';
import type { ForwardTool, GuardOptions, RunContext } from './guard.messages.js';

/** What guarding a compensation needs beside the guard. */
export interface CompensationOptions extends Omit<GuardOptions, 'producer'> {
  /** Who performs it. */
  readonly agentId: string;
}

/**
 * Puts a worker's tool under the contract of its compensation: what it executes is guarded, what it observes is not.
 *
 * Shape:  the call keeps the ids of the recovery (`rev_…`); what it reserves is in the run it undoes. No forward approval is asked
 *         for and no hold is kept: the recovery was approved as one.
 * Errors: Failure(GUARD_INVALID) at once, for a mode that is none; of a call ToolRejected when the guard refuses or the tool had no effect; any other error counts as "nobody knows".
 */
export function guardCompensation(tool: Tool, given: CompensationOptions): Tool {
  refuseUnusable(tool, given);
  const options = { ...given, producer: SILENT };
  return async (args, context) => {
    if (context.phase !== 'execute') return tool(args, context);
    const { answer, value } = await runGuarded(forwardOf(tool, context), callOf(args, context, options), options);
    switch (answer.kind) {
      case 'succeeded':
        return value;
      case 'refused':
        throw new ToolRejected(answer.code, answer.problems.map(({ message }) => message).join('; '));
      case 'failed':
        throw new ToolRejected(answer.error_kind ?? 'REJECTED', answer.failure?.message ?? 'the tool had no effect');
      case 'uncertain':
      case 'held':
      case 'rehearsed':
        throw new Error(`the compensation is ${answer.kind}: ${answer.error_kind ?? ''}`);
    }
  };
}

/** A worker's report is all that is told of a compensation. */
const SILENT: GuardOptions['producer'] = {
  toolPlanned: () => Promise.resolve(''),
  toolExecuted: () => Promise.resolve(''),
  assumptionDeclared: () => Promise.resolve(''),
};

function forwardOf(tool: Tool, context: ToolContext): ForwardTool {
  return { execute: (args) => tool(args, context), externalTransactionRef: handleOf };
}

/** The handle of the compensation itself, where its answer names one. */
function handleOf(result: Json): string | null {
  const named =
    typeof result === 'object' && result !== null && !Array.isArray(result)
      ? (result as Readonly<Record<string, Json>>)['external_transaction_ref']
      : undefined;
  return typeof named === 'string' ? named : null;
}

function callOf(
  args: Json,
  { tenant, runId, callId, idempotencyKey, attempt, subjectRef, reason }: ToolContext,
  { agentId }: CompensationOptions,
): Parameters<typeof runGuarded>[1] {
  const run: RunContext = { tenant, runId, agentId, initiator: null, objective: reason };
  return {
    run,
    stepId: callId,
    args,
    target: subjectRef,
    assumptionRefs: [],
    recovery: { callId, idempotencyKey, attempt },
  };
}
