// Schema registry over the Confluent REST interface (Apicurio's /apis/ccompat/v7, or Confluent's own).
//
// Every subject is FULL_TRANSITIVE. Set before registering, and passed on registering: a subject that exists without a
// setting of its own answers 200 NONE, and the client would throw. Schemas are sent self-contained; one that another
// producer registered with references is answered with them inlined.
import { COMPATIBILITY, SchemaRegistry as Client, SchemaType } from '@kafkajs/confluent-schema-registry';
import { Failure, systemClock } from '@recourse/kernel';
import type { SchemaRegistry } from '../kafka.port.js';
import { Asking } from './asking.js';
import { PromiseCache } from './promise-cache.js';

export interface RegistryOptions {
  /** Base address of the interface, without a slash at its end. */
  readonly url: string;
  /** Longest wait for an answer, in milliseconds, asked twice more within it. Default 15,000. */
  readonly timeoutMs?: number;
  /** Who writes, where a registry asks; reading needs none. */
  readonly writer?: RegistryWriter;
}

/** Basic authentication. */
export interface RegistryWriter {
  readonly username: string;
  readonly password: string;
}

const TIMEOUT_MS = 15_000;
const RETRY = { retries: 1, initialRetryTimeInSecs: 0.1, maxRetryTimeInSecs: 1 } as const;
/** Registry codes: subject, version and schema not found. */
const NOT_FOUND_STATUS = 404;
/** Incompatible, and not a schema. 400 is not among them: the client says so when nobody answers. */
const REFUSED_STATUSES: readonly number[] = [409, 422];
/** Two services that register the same first schema race for its setting; the loser looks again. */
const RACE_ATTEMPTS_MAX = 3;
const RACE_PAUSE_MS = 50;

/** A registry by its address; connects nothing by itself. */
export function createSchemaRegistry(options: RegistryOptions): SchemaRegistry {
  return new ConfluentRegistry(options);
}

class ConfluentRegistry implements SchemaRegistry {
  private readonly client: Client;
  private readonly url: string;
  private readonly timeoutMs: number;
  private readonly asking: Asking;
  private readonly writer: RegistryWriter | undefined;
  private readonly schemas = new PromiseCache<string>();
  private readonly ids = new PromiseCache<number>();

  constructor({ url, timeoutMs = TIMEOUT_MS, writer }: RegistryOptions) {
    this.url = url.replace(/\/+$/, '');
    this.timeoutMs = timeoutMs;
    this.asking = new Asking(timeoutMs);
    this.writer = writer;
    this.client = new Client({
      host: this.url,
      retry: RETRY,
      ...(writer === undefined ? {} : { auth: { ...writer } }),
    });
  }

  schemaById(id: number): Promise<string> {
    return this.schemas.get(String(id), (keep) => this.coded(`schema ${String(id)}`, () => this.fetchSchema(id), keep));
  }

  idOf(subject: string, schema: string, { register = false }: { readonly register?: boolean } = {}): Promise<number> {
    const key = `${register ? 'register' : 'find'} ${subject} ${schema}`;
    return this.ids.get(key, (keep) =>
      this.coded(
        `subject ${subject}`,
        () => (register ? this.register(subject, schema) : this.find(subject, schema)),
        keep,
      ),
    );
  }

  private async fetchSchema(id: number): Promise<string> {
    const answer = asObject(await this.request('GET', `/schemas/ids/${String(id)}`));
    const references = answer['references'];
    if (Array.isArray(references) && references.length > 0) return this.inlined(id);
    if (typeof answer['schema'] !== 'string') throw new Error('the registry answered without a schema');
    return answer['schema'];
  }

  private async inlined(id: number): Promise<string> {
    const type: unknown = await this.client.getSchema(id);
    if (!isInlinable(type)) throw new Error(`schema ${String(id)} is no Avro type that can be printed`);
    return JSON.stringify(type.schema({ exportAttrs: true }));
  }

  private find(subject: string, schema: string): Promise<number> {
    return this.client.getRegistryIdBySchema(subject, { type: SchemaType.AVRO, schema });
  }

  private async register(subject: string, schema: string): Promise<number> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.registerOnce(subject, schema);
      } catch (error) {
        if (!isRace(error) || attempt === RACE_ATTEMPTS_MAX) throw error;
      }
      await systemClock.sleep(RACE_PAUSE_MS * attempt);
    }
  }

  private async registerOnce(subject: string, schema: string): Promise<number> {
    await this.setCompatibility(subject);
    const { id } = await this.client.register(
      { type: SchemaType.AVRO, schema },
      { subject, compatibility: COMPATIBILITY.FULL_TRANSITIVE },
    );
    return id;
  }

  /** Some registries refuse a setting of a subject that does not exist yet: then the client sets it on registering. */
  private async setCompatibility(subject: string): Promise<void> {
    try {
      await this.request('PUT', `/config/${encodeURIComponent(subject)}`, {
        compatibility: COMPATIBILITY.FULL_TRANSITIVE,
      });
    } catch (error) {
      if (statusOf(error) !== NOT_FOUND_STATUS) throw error;
    }
  }

  private async request(method: 'GET' | 'PUT', path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.url}${path}`, {
      method,
      signal: AbortSignal.timeout(this.timeoutMs),
      headers: { accept: 'application/json', 'content-type': 'application/json', ...authorization(this.writer) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    if (!response.ok)
      throw Object.assign(new Error(`${method} ${path} answered ${String(response.status)}: ${text.slice(0, 300)}`), {
        status: response.status,
      });
    return JSON.parse(text);
  }

  private async coded<T>(what: string, act: () => Promise<T>, keep: (answer: T) => void): Promise<T> {
    try {
      return await this.asking.ask(act, keep);
    } catch (error) {
      throw asFailure(error, what);
    }
  }
}

function authorization(writer: RegistryWriter | undefined): Readonly<Record<string, string>> {
  if (writer === undefined) return {};
  return {
    authorization: `Basic ${Buffer.from(`${writer.username}:${writer.password}`).toString('base64')}`,
  };
}

/** An avsc type, of which only the printing is needed. */
interface Inlinable {
  schema(options: { readonly exportAttrs: boolean }): unknown;
}

/** The client types an avsc type by what it uses of it; printing is avsc's own method. */
function isInlinable(type: unknown): type is Inlinable {
  return typeof type === 'object' && type !== null && 'schema' in type && typeof type.schema === 'function';
}

function asFailure(error: unknown, what: string): Failure {
  const status = statusOf(error);
  if (status === NOT_FOUND_STATUS) return new Failure('UNKNOWN_SCHEMA', what, { cause: error });
  if (status !== null && REFUSED_STATUSES.includes(status))
    return new Failure('CONFIG_INVALID', `${what} is refused by the registry: ${messageOf(error)}`, { cause: error });
  return new Failure('REGISTRY_UNAVAILABLE', `${what}: ${messageOf(error)}`, { cause: error });
}

/** A conflict may also be an incompatible schema: then it is one again. */
function isRace(error: unknown): boolean {
  return (
    statusOf(error) === 409 || (error instanceof Error && error.name === 'ConfluentSchemaRegistryCompatibilityError')
  );
}

/** HTTP status anywhere in the chain. The client's own error class stands for a look-up that found nothing. */
function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null;
  if ('status' in error && typeof error.status === 'number') return error.status;
  if (error instanceof Error && error.name === 'ConfluentSchemaRegistryError') return NOT_FOUND_STATUS;
  return 'cause' in error ? statusOf(error.cause) : null;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) throw new Error('the registry answered no object');
  return value as Readonly<Record<string, unknown>>;
}
