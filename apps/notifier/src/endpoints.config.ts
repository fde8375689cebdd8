// Endpoints as the operator writes them: a JSON file. Every problem is found at once, each with a code and its place.
import { secretTextFile } from '@recourse/config';
import type { Variable } from '@recourse/config';
import { z } from 'zod';
import { jsonIn } from '@recourse/kernel';
import { ITEM_KINDS } from './rules/item/item.messages.js';
import { SHAPES } from './rules/webhook/endpoint.messages.js';
import type { Endpoint } from './rules/webhook/endpoint.messages.js';
import { keyOfSecret } from './rules/webhook/signature.decisions.js';

const NAME = /^[a-z][a-z0-9-]{0,62}$/;
const ALL = 'all';
const SECRETS_MAX = 2;
const REMIND_MAX_MS = 30 * 86_400_000;

const endpointFile = z.strictObject({
  /** Development: plain HTTP to this machine. */
  allow_loopback: z.boolean().default(false),
  endpoints: z.array(
    z.strictObject({
      name: z.string().regex(NAME, 'a lower-case name of 1 to 63 letters, digits and -'),
      url: z.string().max(2_048),
      shape: z.enum(SHAPES),
      secrets: z.array(z.string()).max(SECRETS_MAX).default([]),
      tenants: z.union([z.literal(ALL), z.array(z.string().min(1).max(170)).min(1)]),
      kinds: z.union([z.literal(ALL), z.array(z.enum(ITEM_KINDS)).min(1)]).default(ALL),
      remind_before_ms: z.number().int().min(1_000).max(REMIND_MAX_MS).nullable().default(null),
      tell_ends: z.boolean().default(false),
    }),
  ),
});
type EndpointFile = z.infer<typeof endpointFile>;
type Given = EndpointFile['endpoints'][number];

/** What can be wrong with an endpoint beyond its shape. */
export const ENDPOINT_PROBLEMS = {
  NOT_JSON: 'the file is not JSON',
  SHAPE_INVALID: 'a member is missing, unknown or of the wrong kind',
  NAME_TWICE: 'two endpoints have the same name',
  URL_INVALID: 'the url is no absolute http address, or carries a user or password',
  URL_INSECURE: 'the url must be https; http is for this machine alone, where allow_loopback is true',
  SECRET_MISSING: "a generic endpoint needs a secret: without one nobody can tell our word from anybody's",
  SECRET_INVALID: 'a secret is whsec_ and the base64 of 24 to 64 bytes',
} as const;
export type EndpointProblemCode = keyof typeof ENDPOINT_PROBLEMS;

export interface EndpointProblem {
  readonly code: EndpointProblemCode;
  readonly path: string;
  readonly message: string;
}

export type EndpointsRead =
  | { readonly ok: true; readonly endpoints: readonly Endpoint[] }
  | { readonly ok: false; readonly problems: readonly EndpointProblem[] };

/** Reads the text of the file. Pure; no problem repeats a secret or an address. */
export function readEndpoints(text: string): EndpointsRead {
  const json = jsonIn(text);
  if (json === undefined) return { ok: false, problems: [problem('NOT_JSON', '/')] };
  const parsed = endpointFile.safeParse(json);
  if (!parsed.success)
    return {
      ok: false,
      problems: [
        ...parsed.error.issues.map(({ path, message }) =>
          problem('SHAPE_INVALID', `/${path.map(String).join('/')}`, message),
        ),
        ...laxProblems(json),
      ],
    };
  const problems = problemsOf(parsed.data.endpoints, parsed.data.allow_loopback);
  return problems.length > 0 ? { ok: false, problems } : { ok: true, endpoints: parsed.data.endpoints.map(endpointOf) };
}

/** Names the file that holds the endpoints. */
export function endpointsFile(name: string, options: { readonly doc: string }): Variable<readonly Endpoint[]> {
  const { schema, ...rest } = secretTextFile(name, options);
  return {
    ...rest,
    range: 'path of a JSON file of endpoints, closed to others (mode 0640 or less)',
    schema: schema.transform((text, context) => {
      const read = readEndpoints(text);
      if (read.ok) return read.endpoints;
      for (const { code, path, message } of read.problems)
        context.addIssue({ code: 'custom', message: `${code} at ${path}: ${message}` });
      return z.NEVER;
    }),
  };
}

/** Problems of the endpoints whose shape is right, beside those whose shape is not. */
function laxProblems(json: unknown): readonly EndpointProblem[] {
  const given = z.object({ allow_loopback: z.boolean().catch(false), endpoints: z.array(z.unknown()) }).safeParse(json);
  if (!given.success) return [];
  return given.data.endpoints.flatMap((one, index) => {
    const parsed = endpointFile.shape.endpoints.element.safeParse(one);
    return parsed.success ? ownProblems(parsed.data, `/endpoints/${String(index)}`, given.data.allow_loopback) : [];
  });
}

function problemsOf(endpoints: readonly Given[], allowsLoopback: boolean): readonly EndpointProblem[] {
  return endpoints.flatMap((endpoint, index) => {
    const path = `/endpoints/${String(index)}`;
    const isTwice = endpoints.findIndex(({ name }) => name === endpoint.name) !== index;
    return [
      ...(isTwice ? [problem('NAME_TWICE', `${path}/name`)] : []),
      ...ownProblems(endpoint, path, allowsLoopback),
    ];
  });
}

function ownProblems(
  { url, shape, secrets }: Given,
  path: string,
  allowsLoopback: boolean,
): readonly EndpointProblem[] {
  const address = urlProblem(url, allowsLoopback);
  return [
    ...(address === null ? [] : [problem(address, `${path}/url`)]),
    ...(shape === 'generic' && secrets.length === 0 ? [problem('SECRET_MISSING', `${path}/secrets`)] : []),
    ...secrets.flatMap((secret, index) =>
      keyOfSecret(secret) === null ? [problem('SECRET_INVALID', `${path}/secrets/${String(index)}`)] : [],
    ),
  ];
}

function urlProblem(url: string, allowsLoopback: boolean): EndpointProblemCode | null {
  if (!URL.canParse(url)) return 'URL_INVALID';
  const { protocol, hostname, username, password } = new URL(url);
  if ((protocol !== 'https:' && protocol !== 'http:') || username !== '' || password !== '') return 'URL_INVALID';
  return protocol === 'https:' || (allowsLoopback && isLoopback(hostname)) ? null : 'URL_INSECURE';
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

function problem(code: EndpointProblemCode, path: string, message: string = ENDPOINT_PROBLEMS[code]): EndpointProblem {
  return { code, path, message };
}

function endpointOf({
  name,
  url,
  shape,
  secrets,
  tenants,
  kinds,
  remind_before_ms: remindBeforeMs,
  tell_ends: tellsEnds,
}: Given): Endpoint {
  return {
    name,
    url,
    shape,
    keys: secrets.map(keyOfSecret).filter((key) => key !== null),
    tenants: tenants === ALL ? null : tenants,
    kinds: kinds === ALL ? null : kinds,
    remindBeforeMs,
    tellsEnds,
  };
}
