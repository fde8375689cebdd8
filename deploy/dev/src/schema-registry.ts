// Apicurio 3.3 with file storage, spoken to through its Confluent-compatible API.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Java } from '../../../scripts/lib/prerequisites.mjs';
import type { ChildPlan } from './child.js';
import { archiveFile, archiveFlags, type TrainingRun } from './java-archive.js';
import type { BrokerUser } from './kafka-metadata.js';
import { choosePorts } from './ports.js';

export interface RegistryPlace {
  /** The unpacked distribution. */
  readonly app: string;
  readonly java: Java;
  /** Holds the H2 database. */
  readonly folder: string;
  readonly logFile: string;
  readonly ports: { readonly registry: number; readonly registryManagement: number };
  /** Who alone may write; anybody may read. Without it anybody writes. */
  readonly owner?: BrokerUser;
}

const DATABASE = 'registry';
/** All that a registry keeps, below its folder. */
export const DATABASE_FILE = `${DATABASE}.mv.db`;

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 10_000;

/** Base address for clients, with the path of the Confluent-compatible API. */
export function registryUrl(port: number): string {
  return `http://127.0.0.1:${String(port)}/apis/ccompat/v7`;
}

export function registryPlan(place: RegistryPlace): ChildPlan {
  return planWith(place, archiveFlags(archiveFile(place.app, place.java)));
}

/** A registry on throw-away data, for making the class archive. */
export function registryTraining(app: string, java: Java): TrainingRun {
  return async (folder, flags) => {
    const ports = await choosePorts(['registry', 'registryManagement']);
    return {
      ...planWith({ app, java, folder, logFile: join(folder, 'registry.log'), ports }, flags),
      triesMax: 1,
      stopWithinMs: 90_000,
    };
  };
}

function planWith(place: RegistryPlace, flags: readonly string[]): ChildPlan {
  return {
    name: 'registry',
    logFile: place.logFile,
    command: () => {
      mkdirSync(place.folder, { recursive: true });
      return {
        file: place.java.bin,
        // C1 only: it answers a few hundred requests in its life, and this halves its start.
        args: [
          '-Xmx256m',
          '-XX:+UseSerialGC',
          '-XX:TieredStopAtLevel=1',
          '-Djava.net.preferIPv4Stack=true',
          ...flags,
          '-jar',
          join(place.app, 'quarkus-run.jar'),
        ],
        env: { ...process.env, ...registryEnvironment(place), ...ownedBy(place) },
        cwd: place.folder,
      };
    },
    probe: async () =>
      (await fetch(`${registryUrl(place.ports.registry)}/subjects`, { signal: AbortSignal.timeout(2_000) })).ok,
    readyWithinMs: READY_WITHIN_MS,
    stopSignal: 'SIGTERM',
    stopWithinMs: STOP_WITHIN_MS,
  };
}

/**
 * Apicurio's settings.
 *
 * Source: measured. Its management interface listens on 0.0.0.0:9000 unless told otherwise, so that two registries would
 * collide and one would be reachable from outside.
 */
export function registryEnvironment(place: Pick<RegistryPlace, 'folder' | 'ports'>): Readonly<Record<string, string>> {
  return {
    APICURIO_STORAGE_KIND: 'sql',
    APICURIO_STORAGE_SQL_KIND: 'h2',
    APICURIO_DATASOURCE_URL: `jdbc:h2:file:${join(place.folder, DATABASE)}`,
    QUARKUS_HTTP_HOST: '127.0.0.1',
    QUARKUS_HTTP_PORT: String(place.ports.registry),
    QUARKUS_MANAGEMENT_HOST: '127.0.0.1',
    QUARKUS_MANAGEMENT_PORT: String(place.ports.registryManagement),
  };
}

/** Settings that only hold with an owner go by a file of their own: the password is in no environment. */
function ownedBy({ folder, owner }: RegistryPlace): Readonly<Record<string, string>> {
  if (owner === undefined) return {};
  const file = join(folder, 'owner.properties');
  rmSync(file, { force: true });
  writeFileSync(
    file,
    `${Object.entries(ownerSettings(owner))
      .map(([name, value]) => `${name}=${value}`)
      .join('\n')}\n`,
    { mode: 0o600 },
  );
  return { QUARKUS_CONFIG_LOCATIONS: file };
}

/** Basic authentication of one user who is administrator; without it a request may only read. */
export function ownerSettings({ name, password }: BrokerUser): Readonly<Record<string, string>> {
  return {
    'quarkus.http.auth.basic': 'true',
    'quarkus.security.users.embedded.plain-text': 'true',
    [`quarkus.security.users.embedded.users.${name}`]: password,
    [`quarkus.security.users.embedded.roles.${name}`]: 'sr-admin',
    'apicurio.authn.enabled': 'true',
    'apicurio.auth.role-based-authorization': 'true',
    'apicurio.auth.anonymous-read-access.enabled': 'true',
  };
}
