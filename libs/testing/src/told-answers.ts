// Answers of the edges against their OpenAPI documents: a member, a value or a route that the document does not tell of is a problem.
//
// Boundary: reads docs/reference/openapi as it is generated; asks nobody.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';

type Schema = Readonly<Record<string, unknown>>;

interface Response {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** What somebody was answered. */
export interface Answered {
  readonly method: string;
  /** With its query, as it was asked for. */
  readonly path: string;
  readonly status: number;
  readonly body: unknown;
}

const DOCUMENTS = new URL('../../../docs/reference/openapi/', import.meta.url);

/** The document of one service, and which of its routes were seen with something in their answers. */
export class ToldAnswers {
  /** How often each route answered with something: an empty list proves nothing. */
  readonly seen = new Map<string, number>();
  readonly #document: Document;
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true });
  readonly #checks = new Map<Schema, ValidateFunction>();

  constructor(service: string) {
    this.#document = JSON.parse(readFileSync(new URL(`${service}.json`, DOCUMENTS), 'utf8')) as Document; // as it is generated
  }

  /** Routes of the document, e.g. `GET /v1/steps/{id}`. */
  get routes(): readonly string[] {
    return this.#operations().map(([route]) => route);
  }

  /** Routes that answer with 2xx and do not say what. */
  get untold(): readonly string[] {
    return this.#operations().flatMap(([route, { responses }]) =>
      Object.entries(responses).some(([status, response]) => status.startsWith('2') && schemaOf(response) === undefined)
        ? [route]
        : [],
    );
  }

  /** What the document does not say of an answer; empty also of one that refuses. */
  problemsOf({ method, path, status, body }: Answered): readonly string[] {
    if (status < 200 || status > 299) return [];
    const [route, operation] = this.#operationOf(method, path) ?? [];
    if (route === undefined || operation === undefined) return [`no route ${method} ${path}`];
    const { [String(status)]: exact, '2XX': any } = operation.responses;
    const schema = schemaOf(exact ?? any ?? {});
    if (schema === undefined) return [];
    const check = this.#checkOf(schema);
    if (check(body)) {
      if (isTelling(body)) this.seen.set(route, (this.seen.get(route) ?? 0) + 1);
      return [];
    }
    return (check.errors ?? []).map(
      ({ instancePath, message = '', params }) => `${route} ${instancePath} ${message} ${JSON.stringify(params)}`,
    );
  }

  #operations(): readonly (readonly [string, Operation])[] {
    return Object.entries(this.#document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation] as const),
    );
  }

  /** The route with the fewest names in its path, as the router takes it. */
  #operationOf(method: string, path: string): readonly [string, Operation] | undefined {
    const asked = `${method} ${path.split('?')[0] ?? ''}`;
    const namesIn = ([route]: readonly [string, Operation]): number => route.split('{').length;
    return this.#operations()
      .filter(([route]) => new RegExp(`^${route.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(asked))
      .toSorted((one, other) => namesIn(one) - namesIn(other))[0];
  }

  #checkOf(schema: Schema): ValidateFunction {
    const known = this.#checks.get(schema);
    if (known !== undefined) return known;
    const components = { schemas: this.#document.components.schemas };
    const check = this.#ajv.compile(closed({ ...schema, components }) as Schema); // a schema stays one
    this.#checks.set(schema, check);
    return check;
  }
}

function schemaOf({ content }: Response): Schema | undefined {
  return content?.['application/json']?.schema;
}

/** An object may hold what is said of it and nothing else; which clients must not rely on. */
function closed(part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map(closed);
  const members = Object.fromEntries(Object.entries(part).map(([name, member]) => [name, closed(member)]));
  return typeof members['properties'] === 'object' && members['type'] !== undefined && !('additionalProperties' in part)
    ? { ...members, additionalProperties: false }
    : members;
}

function isTelling(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false;
  return !('items' in body) || (Array.isArray(body.items) && body.items.length > 0);
}
