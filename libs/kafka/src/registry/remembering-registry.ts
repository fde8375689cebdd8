// A schema registry whose answers are kept: what it loses later is known all the same, so that a service starts without it.
//
// Boundary: a port around the port. The registry is asked first; what is kept answers for what it says it does not know, and of texts also
// while it does not answer: what a record names by its id is read without it, and nothing is written under an id nobody can ask about.
//
// Invariants
//   I1. A schema has one id whatever its subject, as the registry's interface says, so it finds the id again; not its text, which a
//       registry gives back in a form of its own.
//   I2. A kept id is not written with while the registry has another schema under it: readers would read it by that one.
import { Failure } from '@recourse/kernel';
import type { SchemaRegistry } from '../kafka.port.js';
import { PromiseCache } from './promise-cache.js';
import { isSameSchema } from './same-schema.js';

export interface KnownSchema {
  readonly id: number;
  /** Avro JSON. */
  readonly schema: string;
}

/**
 * Where answers of a registry are kept.
 *
 * Implementations MUST keep them beyond the process. Errors of each: Failure(DATABASE_UNAVAILABLE).
 */
export interface SchemaMemory {
  /** In the order in which they were kept last. */
  all(): Promise<readonly KnownSchema[]>;
  /** The text of an id that is kept already is replaced. */
  keep(known: KnownSchema): Promise<void>;
}

interface RememberingOptions {
  readonly registry: SchemaRegistry;
  readonly memory: SchemaMemory;
  /** The registry does not know it any more. */
  readonly onRemembered?: (what: string) => void;
  /** An answer could not be kept; it is kept when it is asked for again. */
  readonly onError?: (cause: unknown) => void;
}

/** Errors of a look-up: those of the registry; Failure(DATABASE_UNAVAILABLE) where what is kept has to be asked. */
export class RememberingRegistry implements SchemaRegistry {
  private readonly texts = new PromiseCache<string>();
  private readonly ids = new PromiseCache<number>();
  private kept: Promise<Map<number, string>> | null = null;
  private keeping: Promise<void> = Promise.resolve();

  constructor(private readonly options: RememberingOptions) {}

  schemaById(id: number): Promise<string> {
    return this.texts.get(String(id), async () => {
      try {
        const schema = await this.options.registry.schemaById(id);
        this.learn({ id, schema });
        return schema;
      } catch (cause) {
        const schema = isUnknown(cause) || isAway(cause) ? (await this.knownWhile(cause)).get(id) : undefined;
        if (schema === undefined) throw cause;
        this.options.onRemembered?.(`schema ${String(id)}`);
        return schema;
      }
    });
  }

  idOf(subject: string, schema: string, options: { readonly register?: boolean } = {}): Promise<number> {
    return this.ids.get(`${String(options.register === true)} ${subject} ${schema}`, async () => {
      try {
        const id = await this.options.registry.idOf(subject, schema, options);
        this.learn({ id, schema });
        return id;
      } catch (cause) {
        const id = isUnknown(cause) ? await this.keptId(schema) : null;
        if (id === null) throw cause;
        this.options.onRemembered?.(`subject ${subject}`);
        return id;
      }
    });
  }

  /**
   * Asks for schemas that are not kept yet, so that they are. Answers which subjects nobody knew.
   *
   * Errors: those of the registry, but for what it does not know.
   */
  async learnAll(
    schemas: readonly { readonly subject: string; readonly schema: string }[],
  ): Promise<readonly string[]> {
    const kept = new Set((await this.known()).values());
    const unknown: string[] = [];
    for (const { subject, schema } of schemas) {
      if (kept.has(schema)) continue;
      try {
        await this.idOf(subject, schema);
      } catch (cause) {
        if (!isUnknown(cause)) throw cause;
        unknown.push(subject);
      }
    }
    await this.settled();
    return unknown;
  }

  /** Resolves when every answer so far is kept, or could not be. */
  settled(): Promise<void> {
    return this.keeping;
  }

  private learn({ id, schema }: KnownSchema): void {
    this.keeping = this.keeping.then(async () => {
      try {
        const known = await this.known();
        const before = known.get(id);
        if (before !== undefined && isSameSchema(before, schema)) return;
        await this.options.memory.keep({ id, schema });
        known.delete(id); // the newest comes last
        known.set(id, schema);
      } catch (cause) {
        this.options.onError?.(cause);
      }
    });
  }

  /** What is kept; where that cannot be asked either, whatever the registry said stands. */
  private async knownWhile(cause: unknown): Promise<Map<number, string>> {
    try {
      return await this.known();
    } catch (second) {
      throw isAway(cause) ? cause : second;
    }
  }

  private known(): Promise<Map<number, string>> {
    if (this.kept !== null) return this.kept;
    const asked = this.options.memory.all().then((all) => new Map(all.map(({ id, schema }) => [id, schema])));
    this.kept = asked;
    asked.catch(() => {
      this.kept = null;
    });
    return asked;
  }

  /** Id under which a schema was last known; null when it never was. Errors: Failure(UNKNOWN_SCHEMA) when it is another's now. */
  private async keptId(schema: string): Promise<number | null> {
    await this.settled();
    const id = [...(await this.known())].findLast(([, text]) => isSameSchema(text, schema))?.[0] ?? null;
    if (id === null) return null;
    const now = await this.options.registry.schemaById(id).catch((cause: unknown) => {
      if (isUnknown(cause)) return schema;
      throw cause;
    });
    if (isSameSchema(now, schema)) return id;
    throw new Failure(
      'UNKNOWN_SCHEMA',
      `schema ${String(id)} is another one in the registry than it was: it was made anew; restore its own storage`,
    );
  }
}

function isUnknown(cause: unknown): boolean {
  return cause instanceof Failure && cause.code === 'UNKNOWN_SCHEMA';
}

function isAway(cause: unknown): boolean {
  return cause instanceof Failure && cause.code === 'REGISTRY_UNAVAILABLE';
}

/** Memory for specs: as durable as the object. */
export class MemorySchemaMemory implements SchemaMemory {
  /** While false nothing is kept or told. */
  available = true;
  private readonly kept = new Map<number, string>();

  all(): Promise<readonly KnownSchema[]> {
    return this.asked(() => [...this.kept].map(([id, schema]) => ({ id, schema })));
  }

  keep({ id, schema }: KnownSchema): Promise<void> {
    return this.asked(() => {
      this.kept.delete(id);
      this.kept.set(id, schema);
    });
  }

  private asked<T>(act: () => T): Promise<T> {
    return this.available
      ? Promise.resolve(act())
      : Promise.reject(new Failure('DATABASE_UNAVAILABLE', 'the memory is set unavailable'));
  }
}
