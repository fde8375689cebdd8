// A compensation is a tool call like any other: under its own contract, with its own record and debit (A62).
//
// Boundary: checks and reserves before the call, and publishes nothing: the ledger records the compensation from the verdict
// of the orchestrator, so there is one account of it, and the accountant settles the reservation by that record.
import type { Json } from '@recourse/kernel';
import { isStream, lastOf } from '../tool/streamed.js';
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
 *         A call is not given up here: the worker waits as long as the contract says, and knows what still runs.
 * Errors: Failure(GUARD_INVALID) at once, for a mode that is none; of a call ToolRejected when the guard refuses, and what the tool threw, as it is:
 *         as without a guard, anything but a ToolRejected counts as "nobody knows", and what is reserved for it stays.
 */
export function guardCompensation(tool: Tool, given: CompensationOptions): Tool {
  refuseUnusable(tool, given);
  const options = { ...given, producer: SILENT };
  return async (args, context) => {
    if (context.phase !== 'execute') return tool(args, context);
    const thrown: Thrown[] = [];
    const forward = forwardOf(noting(tool, thrown), context);
    const { answer, value } = await runGuarded(forward, callOf(args, context, options), options);
    switch (answer.kind) {
      case 'succeeded':
        return value;
      case 'refused':
        throw new ToolRejected(answer.code, answer.problems.map(({ message }) => message).join('; '));
      case 'failed':
      case 'uncertain':
      case 'held':
      case 'rehearsed':
        if (thrown[0] !== undefined) throw thrown[0].error;
        throw new Error(`the compensation is ${answer.kind}: ${answer.error_kind ?? ''}`);
    }
  };
}

/** What a tool threw, whatever that is. */
interface Thrown {
  readonly error: unknown;
}

/** The tool, with what it throws kept for its worker, which reads it; one that streams is run to its end here. */
function noting(tool: Tool, thrown: Thrown[]): Tool {
  return async (args, context) => {
    try {
      const given: unknown = await tool(args, context);
      // The answer of the tool, or what a stream of them gives last, which is one.
      return (isStream(given) ? await lastOf(given) : given) as Json;
    } catch (error) {
      thrown.push({ error });
      throw error;
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
