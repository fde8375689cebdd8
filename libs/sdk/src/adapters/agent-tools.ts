// Tools of agent kits under a guard: a plain function, the `execute` of a tool, an MCP client.
//
// Boundary: shapes only, no kit is imported; what a kit says of its tools (MCP annotations and the like) is no contract.
import type { Contract } from '@recourse/contract';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { recoverabilityNote, toolCatalog } from '../context/tool-catalog.js';
import { guard } from '../guard/guard.js';
import type { ForwardTool, GuardedCall, GuardedResult, GuardOptions } from '../guard/guard.messages.js';
import { hearing, objection, trouble } from '../guard/objections.js';
import type { Stop } from '../guard/objections.js';
import type { Last } from '../tool/streamed.js';
import { ToolRejected } from '../tool/tool.js';

/** What a tool brings beside its call: prior value, dry run, handle, schema. */
export type ToolExtras = Omit<ForwardTool, 'execute'>;

/** Where a call belongs. `callId` is the kit's id of it, when it has one. */
export type CallPlace = (args: Json, callId: string | null) => Omit<GuardedCall, 'args'>;

/** What an adapter needs: the guard without the contract, and the contract. */
export interface AdapterOptions extends GuardOptions {
  readonly place: CallPlace;
  readonly extras?: ToolExtras;
}

/** Puts one call of a kit under the guard. Errors: those of the guard. */
async function guardedCall<Value extends Json>(
  execute: (args: Json) => Promise<Value>,
  { place, extras, ...options }: AdapterOptions,
  args: Json,
  { callId, signal }: KitCall,
): Promise<GuardedResult<Value>> {
  const own = { producedBy: callId, ...(signal === null ? {} : { signal }) };
  return guard<Value>(toolWith(extras, execute), options)({ ...own, ...place(args, callId), args });
}

/** The tool of a call: what it brings is looked up where it is, so that an object of a class keeps its methods. */
function toolWith<Value extends Json>(
  extras: ToolExtras | undefined,
  execute: (args: Json) => Promise<Value>,
): ForwardTool<Value> {
  return Object.create(extras ?? null, { execute: { value: execute } }) as ForwardTool<Value>;
}

/** What a kit says of a call beside its arguments. */
interface KitCall {
  readonly callId: string | null;
  readonly signal: AbortSignal | null;
}

const UNSAID: KitCall = { callId: null, signal: null };

/**
 * A plain function.
 *
 * Errors: as its guard: Failure(BROKER_UNAVAILABLE) when the outcome of a call that was made could not be published.
 */
export function guardFunction<Value extends Json>(
  execute: (args: Json) => Promise<Value>,
  options: AdapterOptions,
): (args: Json) => Promise<GuardedResult<Value>> {
  return (args) => guardedCall(execute, options, args, UNSAID);
}

/**
 * The `execute` of a tool as agent kits take it: `(input, {toolCallId})` in the Vercel AI SDK, `(input, context, {toolCall})` in
 * the OpenAI Agents SDK. Give the result to the kit as its `execute`.
 *
 * Shape:  one that streams (`async *execute`) is run to its end, and what it gives last is its answer.
 *         A signal of the kit (`abortSignal`, `signal`) calls the call off before it is made.
 *         The kit wraps its own handling of errors around the guard, so an error of the tool stays an error here.
 * Errors: as guardFunction.
 */
export function guardExecute<Input, Rest extends readonly unknown[], Output>(
  execute: (input: Input, ...rest: Rest) => Output,
  options: AdapterOptions,
): (input: Input, ...rest: Rest) => Promise<GuardedResult<Last<Awaited<Output>>>> {
  // The kit has parsed the input from JSON, and the guard checks it against the contract before the tool sees it.
  return async (input, ...rest) => {
    const called = async (args: Json): Promise<Json> => (await execute(args as Input, ...rest)) as Json;
    // What the tool gave, as JSON.
    return (await guardedCall(called, options, input as Json, {
      callId: callIdIn(rest),
      signal: signalIn(rest),
    })) as GuardedResult<Last<Awaited<Output>>>;
  };
}

function callIdIn(rest: readonly unknown[]): string | null {
  const named = rest.flatMap((each) => {
    // Any value but null and undefined may be read by name.
    const { toolCallId, toolCall } = (each ?? {}) as {
      readonly toolCallId?: unknown;
      readonly toolCall?: { readonly callId?: unknown };
    };
    return [toolCallId, toolCall?.callId];
  });
  return named.find((id) => typeof id === 'string') ?? null;
}

/** The signal by which a kit aborts: `abortSignal` in the Vercel AI SDK, `signal` in others. */
function signalIn(rest: readonly unknown[]): AbortSignal | null {
  const named = rest.flatMap((each) => {
    // Any value but null and undefined may be read by name.
    const { abortSignal, signal } = (each ?? {}) as { readonly abortSignal?: unknown; readonly signal?: unknown };
    return [abortSignal, signal];
  });
  return named.find((one) => one instanceof AbortSignal) ?? null;
}

/** The part of an MCP client that is guarded. */
export interface McpClient {
  /** One page of its tools: the first, or the one that `cursor` names. */
  listTools(page?: { readonly cursor: string }): Promise<{
    readonly tools: readonly McpTool[];
    readonly nextCursor?: string | null | undefined;
  }>;
  callTool(call: { readonly name: string; readonly arguments?: Readonly<Record<string, unknown>> }): Promise<unknown>;
}
/** A tool as an MCP server lists it. */
export interface McpTool {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  readonly annotations?: unknown;
}
/** A tool's contract, and the tool as its server listed it when somebody approved that. */
export interface McpOptions extends AdapterOptions {
  /** As serverFingerprint gives it: a server that describes the tool otherwise since is not called (D7). */
  readonly approvedListing?: string;
}
/** By the server's name of the tool. */
export type McpContracts = Readonly<Record<string, McpOptions>>;

/** SHA-256 over a tool as its server lists it, 64 hex digits: name, description, arguments and what it claims of itself. */
export function serverFingerprint({ name, description, inputSchema, annotations }: McpTool): string {
  return sha256Hex(canonicalJson({ name, description, inputSchema, annotations }));
}

/** A server's answer, as MCP shapes it. */
export interface McpAnswer {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly structuredContent: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/**
 * The tools of an MCP server. Default deny: a tool without a contract, or one that its server lists otherwise than it was approved, is
 * neither listed nor called, whatever its annotations say.
 *
 * Shape: listed tools carry the contract's schema and a line on how they are undone; annotations are left out. In `off` a tool with a
 *        contract is listed as its server lists it; in `observe` one that was changed is listed, and `onTrouble` hears of it.
 * Errors: as guardFunction, and those of the client.
 */
export function guardMcp(
  client: McpClient,
  contracts: McpContracts,
): {
  readonly listTools: () => Promise<{ readonly tools: readonly McpTool[] }>;
  /** `extra`: what an MCP server is told beside a call; its `signal` calls the call off before it is made. */
  readonly callTool: (name: string, args: Json, extra?: { readonly signal?: AbortSignal }) => Promise<McpAnswer>;
} {
  return {
    listTools: async () => {
      const found: McpTool[] = [];
      for await (const tool of toolsOf(client)) {
        const options = Object.hasOwn(contracts, tool.name) ? contracts[tool.name] : undefined;
        if (options !== undefined) found.push(...listedBy(tool, options));
      }
      return { tools: found };
    },
    callTool: async (name, args, extra) => {
      const options = Object.hasOwn(contracts, name) ? contracts[name] : undefined;
      if (options === undefined) return mcpAnswer({ kind: 'refused', code: 'CONTRACT_MISSING', mutation_refs: [] });
      const changed = (await isChanged(client, name, options)) ? changedOf(name, options) : null;
      if (changed !== null) return mcpAnswer(changed.stop);
      const calling = (input: Json): Promise<Json> => callMcp(client, name, input);
      return mcpAnswer(await guardedCall(calling, options, args, { callId: null, signal: signalIn([extra]) }));
    },
  };
}

/** Asked before each call of a tool whose listing somebody approved: a server may change it whenever it likes. */
async function isChanged(client: McpClient, name: string, options: McpOptions): Promise<boolean> {
  if (options.approvedListing === undefined || options.mode !== 'enforce') return false;
  for await (const tool of toolsOf(client)) if (tool.name === name) return isAnother(tool, options);
  return true;
}

/** Pages of a listing that are read: a server may name a next one for ever. */
const PAGES_MAX = 100;

/** The tools that a server lists, page by page; what stands behind the last one that is read is not there. Errors: those of the client. */
async function* toolsOf(client: McpClient): AsyncGenerator<McpTool> {
  let cursor: string | null = null;
  for (let page = 1; page <= PAGES_MAX; page += 1) {
    const { tools, nextCursor = null }: Awaited<ReturnType<McpClient['listTools']>> =
      cursor === null ? await client.listTools() : await client.listTools({ cursor });
    yield* tools;
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
}

/** In `off` as its server lists it; otherwise as its contract says, unless it is not the one that was approved. */
function listedBy(tool: McpTool, options: McpOptions): readonly McpTool[] {
  if (options.mode === 'off') return [tool];
  if (isAnother(tool, options) && changedOf(tool.name, options) !== null) return [];
  return listed(tool.name, tool.description, options.contract);
}

function changedOf(name: string, options: McpOptions): Stop | null {
  const why = `its server lists ${name} otherwise than it was approved: look at what changed, and have it approved anew`;
  return objection(hearing<McpOptions>(options), trouble('TOOL_CHANGED', why));
}

function isAnother(tool: McpTool, { approvedListing }: McpOptions): boolean {
  return approvedListing !== undefined && serverFingerprint(tool) !== approvedListing;
}

function listed(name: string, description: string | undefined, contract: Contract | undefined): readonly McpTool[] {
  return contract === undefined
    ? []
    : toolCatalog([contract]).map((tool) => ({
        name,
        description: `${description ?? tool.description} ${recoverabilityNote(tool)}`,
        inputSchema: tool.args_schema,
      }));
}

/** An answer marked as an error is left to the guard, which knows what its code means. */
async function callMcp(client: McpClient, name: string, args: Json): Promise<Json> {
  if (!isDoc(args)) throw new ToolRejected('ARGS_INVALID', 'arguments are an object');
  const { structuredContent, content, isError } = (await client.callTool({ name, arguments: args })) as Readonly<
    Record<string, unknown>
  >;
  const told = (structuredContent ?? { content }) as Json; // read off the wire, as JSON
  return isError === true ? { ...(isDoc(told) ? told : {}), isError: true } : told;
}

function mcpAnswer(
  result:
    | GuardedResult
    | {
        readonly kind: 'refused';
        readonly code: 'CONTRACT_MISSING';
        readonly mutation_refs: readonly [];
      },
): McpAnswer {
  return {
    content: [{ type: 'text', text: JSON.stringify(result) }],
    structuredContent: { ...result },
    isError: !['succeeded', 'held', 'rehearsed'].includes(result.kind),
  };
}

const isDoc = (value: Json): value is Readonly<Record<string, Json>> =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
