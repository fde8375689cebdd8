// The schema registry as a program with a database of its own asks it: what it was told once is known when the registry lost it.
import { createSchemaRegistry, RememberingRegistry } from '@recourse/kafka';
import type { SchemaRegistry } from '@recourse/kafka';
import type { Logger } from '@recourse/telemetry';
import { PostgresSchemaMemory } from './outbound/postgres-schema-memory.js';
import { plannedSubjects } from './provision/topics.js';

/** From this line of its log on, a service starts without the registry's subjects. */
export const ALL_SCHEMAS_KNOWN = 'all schemas of this release are known: a start needs no subject of the registry';

export interface KnownSchemas {
  readonly registry: SchemaRegistry;
  /** Has the registry tell, once, of every schema that this release was built with. Nothing depends on it. */
  readonly learn: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Connects nothing by itself. */
export function knownSchemas(
  { registryUrl, databaseUrl }: { readonly registryUrl: string; readonly databaseUrl: string },
  logger: Pick<Logger, 'info' | 'warn'>,
): KnownSchemas {
  const memory = new PostgresSchemaMemory(databaseUrl);
  const registry = new RememberingRegistry({
    registry: createSchemaRegistry({ url: registryUrl }),
    memory,
    onRemembered: (what) => {
      logger.warn({ what }, 'the schema registry lost this; it is known from before (`recourse provision --check`)');
    },
    onError: (cause) => {
      logger.warn({ err: cause }, 'what the schema registry told could not be kept');
    },
  });
  return {
    registry,
    learn: async () => {
      try {
        const planned = plannedSubjects({ adapters: [] });
        const unknown = await registry.learnAll(planned);
        if (unknown.length > 0)
          logger.warn({ subjects: unknown }, 'the schema registry does not know these (`recourse provision --check`)');
        else logger.info({ subjects: planned.length }, ALL_SCHEMAS_KNOWN);
      } catch (error) {
        logger.warn({ err: error }, 'the schema registry did not tell of all schemas; it is asked at the next start');
      }
    },
    close: async () => {
      await registry.settled();
      await memory.close();
    },
  };
}
