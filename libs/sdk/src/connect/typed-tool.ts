// A tool that speaks its own types, as the guard calls it, and the guarded tool with its types again.
//
// Boundary: shapes only. The guard checks arguments against the contract before the tool sees them; what the tool gives
// travels as JSON.
import type { Json } from '@recourse/kernel';
import { answerOf, jsonOf } from '../adapters/json.js';
import type { ForwardContext, ForwardTool, GuardedCall, GuardOptions } from '../guard/guard.messages.js';
import type { ConnectedPlace, TypedTool } from './connect.messages.js';

/** A function, or a tool with more than its call. */
export type ToolLike<Args, Value> =
  ((args: Args, context: ForwardContext) => Value | Promise<Value>) | TypedTool<Args, Value>;

/** What a tool is given beside itself. */
interface Given<Value> extends Pick<GuardOptions, 'onTrouble'> {
  /** Reads the provider's handle where the tool itself does not. */
  readonly handle: ((result: Value) => string | null) | undefined;
}

/** The tool as the guard calls it. */
export function forwardTool<Args, Value>(
  tool: ToolLike<Args, Value>,
  { handle, onTrouble }: Given<Value>,
): ForwardTool {
  const typed: TypedTool<Args, Value> = typeof tool === 'function' ? { execute: tool } : tool;
  const { capturePriorValue, rehearse, stage, unstage, schema } = typed;
  const read = handle ?? typed.externalTransactionRef?.bind(typed);
  // The guard gives arguments that fit the contract, and the result that this very tool gave.
  const args = (value: Json): Args => value as Args;
  const hearing = onTrouble === undefined ? {} : { onTrouble };
  const result = (value: Json): Value => value as Value;
  return {
    execute: async (given, context) => answerOf(await typed.execute(args(given), context), hearing),
    ...(read === undefined ? {} : { externalTransactionRef: (value) => read(result(value)) }),
    ...(capturePriorValue === undefined
      ? {}
      : { capturePriorValue: async (given) => jsonOf(await capturePriorValue.call(typed, args(given))) }),
    ...(rehearse === undefined ? {} : { rehearse: async (given) => jsonOf(await rehearse.call(typed, args(given))) }),
    ...(stage === undefined ? {} : { stage: (given, context) => stage.call(typed, args(given), context) }),
    ...(unstage === undefined ? {} : { unstage: (given, context) => unstage.call(typed, args(given), context) }),
    ...(schema === undefined ? {} : { schema }),
  };
}

/** Arguments that are no JSON stay as they are: the guard says what is wrong with them. */
function argsOf(args: unknown): Json {
  try {
    return jsonOf(args);
  } catch {
    return args as Json;
  }
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
    args: argsOf(args),
    target: target ?? null,
    assumptionRefs: assumptionRefs ?? [],
  };
}
