// A tool that speaks its own types, as the guard calls it, and the guarded tool with its types again.
//
// Boundary: shapes only. The guard checks arguments against the contract before the tool sees them; what the tool gives
// travels as JSON.
import type { Json } from '@recourse/kernel';
import type { ForwardContext, ForwardTool, GuardedCall } from '../guard/guard.messages.js';
import type { ConnectedPlace, TypedTool } from './connect.messages.js';

/** A function, or a tool with more than its call. */
export type ToolLike<Args, Value> =
  ((args: Args, context: ForwardContext) => Value | Promise<Value> | AsyncIterable<Value>) | TypedTool<Args, Value>;

/** The tool as the guard calls it. `handle` reads the provider's handle where the tool itself does not. */
export function forwardTool<Args, Value>(
  tool: ToolLike<Args, Value>,
  handle: ((result: Value) => string | null) | undefined,
): ForwardTool {
  const typed: TypedTool<Args, Value> = typeof tool === 'function' ? { execute: tool } : tool;
  const { capturePriorValue, rehearse, stage, unstage, schema } = typed;
  const read = handle ?? typed.externalTransactionRef?.bind(typed);
  // The guard gives arguments that fit the contract, and the result that this very tool gave; what that is as JSON is the guard's to see.
  const args = (value: Json): Args => value as Args;
  const result = (value: Json): Value => value as Value;
  const answer = (value: unknown): Json => value as Json;
  return {
    execute: async (given, context) => answer(await typed.execute(args(given), context)),
    ...(read === undefined ? {} : { externalTransactionRef: (value) => read(result(value)) }),
    ...(capturePriorValue === undefined
      ? {}
      : { capturePriorValue: async (given) => answer(await capturePriorValue.call(typed, args(given))) }),
    ...(rehearse === undefined ? {} : { rehearse: async (given) => answer(await rehearse.call(typed, args(given))) }),
    ...(stage === undefined ? {} : { stage: (given, context) => stage.call(typed, args(given), context) }),
    ...(unstage === undefined ? {} : { unstage: (given, context) => unstage.call(typed, args(given), context) }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/** The call a guard makes of arguments and their place. */
export function callAt(
  args: unknown,
  {
    runId,
    stepId,
    tenant,
    agentId,
    initiator,
    objective,
    onFailure,
    release,
    target,
    assumptionRefs,
    ...more
  }: ConnectedPlace = {} as ConnectedPlace, // who leaves it out is told what is missing, by the guard
  self: { readonly tenant: string; readonly name: string },
): GuardedCall {
  return {
    ...more,
    run: {
      tenant: tenant ?? self.tenant,
      runId,
      agentId: agentId ?? self.name,
      initiator: initiator ?? null,
      objective,
      ...(onFailure === undefined ? {} : { onFailure }),
      ...(release === undefined ? {} : { release }),
    },
    stepId,
    args: args as Json, // whether they are is the guard's to see
    target: target ?? null,
    assumptionRefs: assumptionRefs ?? [],
  };
}
