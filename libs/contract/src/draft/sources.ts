// Where drafts come from: MCP tool lists, OpenAPI documents, tool declarations. What these say of themselves is untrusted.
import { isJsonObject } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { DIMENSIONS } from '../shape.js';
import type { ContractDraft } from '../shape.js';
import { draftOf, SAFETY_CLASSES, textOf } from './draft.js';
import type { Draft, SafetyClass } from './draft.js';

export const DRAFT_SOURCES = ['mcp', 'openapi', 'tools'] as const;
export type DraftSource = (typeof DRAFT_SOURCES)[number];

export interface DraftOptions {
  /** Prefix of the capabilities where the document names none. */
  readonly adapter: string;
  readonly owner: string | null;
  /** Currency of amounts that a declaration leaves bare; ISO 4217. */
  readonly currency: string;
}

/** Says what a document is; null when it is none of them. */
export function sourceOf(document: Json): DraftSource | null {
  if (isJsonObject(document) && typeof document['openapi'] === 'string') return 'openapi';
  const tools = toolsIn(document);
  if (tools.length === 0) return null;
  return tools.some((tool) => tool['tool_id'] !== undefined || tool['safety_class'] !== undefined) ? 'tools' : 'mcp';
}

/** Proposes a contract per tool, in the document's order. */
export function draftsFrom(source: DraftSource, document: Json, options: DraftOptions): readonly Draft[] {
  switch (source) {
    case 'mcp':
      return toolsIn(document).map((tool) => mcpDraft(tool, options));
    case 'openapi':
      return operationsIn(document).map((operation) => openApiDraft(operation, options));
    case 'tools':
      return toolsIn(document).map((tool) => declaredDraft(tool, options));
  }
}

type Doc = Readonly<Record<string, Json>>;

/** A list, `{tools: […]}`, or the answer of tools/list. */
function toolsIn(document: Json): readonly Doc[] {
  const result = isJsonObject(document) && isJsonObject(document['result']) ? document['result'] : document;
  const tools = isJsonObject(result) ? result['tools'] : result;
  return Array.isArray(tools)
    ? (tools as readonly Json[])
        .filter(isJsonObject)
        .filter((tool) => textOf(tool['name']) !== null || textOf(tool['tool_id']) !== null)
    : [];
}

function mcpDraft(tool: Doc, { adapter, owner }: DraftOptions): Draft {
  const hints = isJsonObject(tool['annotations']) ? tool['annotations'] : {};
  const [safetyClass, because] = mcpClass(hints);
  return draftOf(
    {
      name: textOf(tool['name']) ?? 'tool',
      adapter,
      description: textOf(tool['description']) ?? textOf(hints['title']),
      argsSchema: tool['inputSchema'] ?? {},
      resultSchema: tool['outputSchema'] ?? null,
      safetyClass,
      because,
    },
    'MCP tool list',
    owner,
  );
}

/** Without hints a tool counts as destructive, as the protocol has it. */
function mcpClass(hints: Doc): readonly [SafetyClass, string] {
  if (hints['readOnlyHint'] === true) return ['READ_ONLY', 'readOnlyHint, unverified'];
  if (hints['destructiveHint'] !== false)
    return ['DESTRUCTIVE', hints['destructiveHint'] === true ? 'destructiveHint' : 'no hint says otherwise'];
  return hints['openWorldHint'] === false
    ? ['LOCAL_WRITE', 'openWorldHint false, unverified']
    : ['NETWORK', 'destructiveHint false, unverified'];
}

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly operation: Doc;
  readonly resolved: Resolved;
}

const METHODS: Readonly<Record<string, SafetyClass>> = {
  get: 'READ_ONLY',
  head: 'READ_ONLY',
  options: 'READ_ONLY',
  post: 'NETWORK',
  put: 'NETWORK',
  patch: 'NETWORK',
  delete: 'DESTRUCTIVE',
};

function operationsIn(document: Json): readonly Operation[] {
  if (!isJsonObject(document) || !isJsonObject(document['paths'])) return [];
  const resolved = resolvedIn(document);
  return Object.entries(document['paths']).flatMap(([path, item]) =>
    isJsonObject(item)
      ? Object.entries(item).flatMap(([method, operation]) =>
          !Object.hasOwn(METHODS, method) || !isJsonObject(operation) ? [] : [{ method, path, operation, resolved }],
        )
      : [],
  );
}

function openApiDraft({ method, path, operation, resolved }: Operation, { adapter, owner }: DraftOptions): Draft {
  return draftOf(
    {
      name: textOf(operation['operationId']) ?? `${method} ${path}`,
      adapter,
      description: textOf(operation['summary']) ?? textOf(operation['description']),
      argsSchema: openApiArgs(operation, resolved),
      resultSchema: openApiResult(operation, resolved),
      safetyClass: METHODS[method] ?? 'DESTRUCTIVE',
      because: `${method.toUpperCase()} ${path}`,
    },
    'OpenAPI document',
    owner,
  );
}

/** Parameters and body side by side: a call has one set of named arguments. */
function openApiArgs(operation: Doc, resolved: Resolved): Json {
  const listed = (Array.isArray(operation['parameters']) ? (operation['parameters'] as readonly Json[]) : [])
    .map((each) => resolved(each))
    .filter(isJsonObject);
  const parameters = listed.flatMap((each) => {
    const name = textOf(each['name']);
    return name === null
      ? []
      : [{ name, schema: resolved(each['schema'] ?? {}), isRequired: each['required'] === true }];
  });
  const body = resolved(contentSchema(resolved(operation['requestBody'] ?? {})));
  const fromBody = isJsonObject(body) && isJsonObject(body['properties']) ? body['properties'] : {};
  const required = isJsonObject(body) && Array.isArray(body['required']) ? (body['required'] as readonly Json[]) : [];
  return {
    type: 'object',
    properties: { ...Object.fromEntries(parameters.map(({ name, schema }) => [name, schema])), ...fromBody },
    required: [...new Set([...parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name), ...required])],
  };
}

function openApiResult(operation: Doc, resolved: Resolved): Json | null {
  const responses = isJsonObject(operation['responses']) ? operation['responses'] : {};
  const good = Object.entries(responses).find(([status]) => /^2/.test(status))?.[1];
  const schema = good === undefined ? null : resolved(contentSchema(resolved(good)));
  return isJsonObject(schema) && Object.keys(schema).length > 0 ? schema : null;
}

function contentSchema(holder: Json): Json {
  const content = isJsonObject(holder) && isJsonObject(holder['content']) ? holder['content'] : {};
  const media = content['application/json'] ?? Object.values(content)[0];
  return isJsonObject(media) ? (media['schema'] ?? {}) : {};
}

const HOPS_MAX = 8;
const DEPTH_MAX = 12;
/** Values that the references of one document are written out to, all together: a few hundred bytes of them have no other bound. */
const VALUES_MAX = 100_000;

type Resolved = (value: Json) => Json;

/** Writes out local references of a document, as far as they go; a circle ends as any value, and so does what is too much. */
function resolvedIn(root: Doc): Resolved {
  let left = VALUES_MAX;
  const resolve = (value: Json, depth: number): Json => {
    left -= 1;
    let at: Json = value;
    for (let hops = 0; hops < HOPS_MAX && isJsonObject(at) && typeof at['$ref'] === 'string'; hops += 1)
      at = pointed(root, at['$ref']);
    if (isJsonObject(at) && typeof at['$ref'] === 'string') return {};
    if (depth >= DEPTH_MAX || left <= 0) return {};
    if (Array.isArray(at)) return (at as readonly Json[]).map((each) => resolve(each, depth + 1));
    return isJsonObject(at)
      ? Object.fromEntries(Object.entries(at).map(([name, each]) => [name, resolve(each, depth + 1)]))
      : at;
  };
  return (value) => resolve(value, 0);
}

function pointed(root: Doc, ref: string): Json {
  if (!ref.startsWith('#/')) return {};
  const tokens = ref
    .slice(2)
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  return tokens.reduce<Json>(
    (at, token) => (isJsonObject(at) && Object.hasOwn(at, token) ? (at[token] ?? {}) : {}),
    root,
  );
}

/** Minor units of a bare amount: two decimals unless the currency has others. */
function minorOf(amount: number, currency: string): number {
  const digits =
    new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions().maximumFractionDigits ?? 2;
  return Math.round(amount * 10 ** digits);
}

/** Maps tool_id, name, safety_class, reversal, metadata.risk_dimension and metadata.value_arg (D4). */
function declaredDraft(tool: Doc, { adapter, owner, currency }: DraftOptions): Draft {
  const id = textOf(tool['tool_id']) ?? textOf(tool['name']) ?? 'tool';
  const dot = id.indexOf('.');
  const safetyClass =
    SAFETY_CLASSES.find((each) => each === textOf(tool['safety_class'])?.toUpperCase()) ?? 'DESTRUCTIVE';
  const metadata = isJsonObject(tool['metadata']) ? tool['metadata'] : {};
  const valueArg = textOf(metadata['value_arg']);
  const draft = draftOf(
    {
      name: dot < 0 ? id : id.slice(dot + 1),
      adapter: dot < 0 ? adapter : id.slice(0, dot),
      description: textOf(tool['description']) ?? textOf(tool['name']),
      argsSchema: argsSchemaOf(tool, valueArg),
      resultSchema: null,
      safetyClass,
      because: 'declared',
    },
    'tool declaration',
    owner,
  );
  const dimension = DIMENSIONS.find((each) => each === textOf(metadata['risk_dimension']));
  return {
    ...draft,
    contract: {
      ...draft.contract,
      ...(dimension === 'money' ? { impact: 'financial' as const } : {}),
      ...reversalOf(isJsonObject(tool['reversal']) ? tool['reversal'] : {}, currency),
      ...(valueArg === null ? {} : { value: { amount: `/${valueArg}`, currency } }),
      ...(dimension === undefined
        ? {}
        : { consequence: { [dimension]: valueArg === null ? '1' : `args.${valueArg}` } }),
    },
    decide: [...draft.decide, ...(valueArg === null ? [] : [`Is ${valueArg} in minor units of ${currency}?`])],
  };
}

/** The declared schema of the arguments; the argument that holds the value is an integer unless it says otherwise. */
function argsSchemaOf(tool: Doc, valueArg: string | null): Doc {
  const given = [tool['args_schema'], tool['parameters']].find(isJsonObject) ?? {};
  const properties = {
    ...(valueArg === null ? {} : { [valueArg]: { type: 'integer' } }),
    ...(isJsonObject(given['properties']) ? given['properties'] : {}),
  };
  return { ...given, properties };
}

function reversalOf(reversal: Doc, currency: string): ContractDraft {
  const lower = (name: string): string | undefined => textOf(reversal[name])?.toLowerCase();
  const declared = (['reversible', 'compensable', 'irreversible'] as const).find(
    (each) => each === (lower('class') ?? lower('reversal_class')),
  );
  const approval = (['auto', 'human', 'dual_control'] as const).find(
    (each) => each === lower('recovery_approval_mode'),
  );
  const window = reversal['reversal_window_ms'];
  const caps = isJsonObject(reversal['blast_radius']) ? reversal['blast_radius'] : reversal;
  const [calls, value] = [caps['max_calls_per_run'], caps['max_value_per_run']];
  return {
    ...(declared === undefined ? {} : { reversal_class: declared }),
    ...(textOf(reversal['compensation_capability']) === null
      ? {}
      : { compensation_capability: textOf(reversal['compensation_capability']) ?? '' }),
    ...(textOf(reversal['inverse_capability']) === null
      ? {}
      : { inverse_capability: textOf(reversal['inverse_capability']) ?? '' }),
    ...(approval === undefined ? {} : { recovery_approval_mode: approval }),
    ...(typeof window === 'number' ? { reversal_window_ms: window } : {}),
    ...(typeof calls === 'number' || typeof value === 'number'
      ? {
          blast_radius: {
            ...(typeof calls === 'number' ? { max_calls_per_run: calls } : {}),
            ...(typeof value === 'number'
              ? { max_value_per_run: { amount_minor: minorOf(value, currency), currency } }
              : {}),
            scope: 'single_subject' as const,
          },
        }
      : {}),
  };
}
