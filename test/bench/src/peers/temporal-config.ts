// Configuration of Temporal's server: all its services in one process, on PostgreSQL, without the limits that would throttle it. Pure.
import type { StackFacts } from '@recourse/dev-stack';

export const TEMPORAL_SERVICES = ['frontend', 'history', 'matching', 'worker'] as const;
export type TemporalService = (typeof TEMPORAL_SERVICES)[number];

/** Ports of each service: for calls, and for finding each other. */
export type TemporalPorts = Readonly<Record<TemporalService, { readonly rpc: number; readonly membership: number }>>;

export const TEMPORAL_DATABASES = { main: 'bench_temporal', visibility: 'bench_temporal_visibility' } as const;
const SHARDS = 4;
const CONNECTIONS = { main: 20, visibility: 10 } as const;
const LIMIT = 200_000;

/** As YAML, which JSON is. */
export function temporalConfig(postgres: StackFacts['postgres'], ports: TemporalPorts, dynamicFile: string): string {
  const cluster = {
    enabled: true,
    initialFailoverVersion: 1,
    rpcName: 'frontend',
    rpcAddress: `127.0.0.1:${String(ports.frontend.rpc)}`,
  };
  return JSON.stringify({
    log: { stdout: true, level: 'error' },
    persistence: {
      defaultStore: 'main',
      visibilityStore: 'visibility',
      numHistoryShards: SHARDS,
      datastores: { main: storeIn(postgres, 'main'), visibility: storeIn(postgres, 'visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: '127.0.0.1' } },
    services: Object.fromEntries(
      TEMPORAL_SERVICES.map((name) => [
        name,
        { rpc: { grpcPort: ports[name].rpc, membershipPort: ports[name].membership, bindOnLocalHost: true } },
      ]),
    ),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: { active: cluster },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicFile, pollInterval: '60s' },
  });
}

/** Lifts the rate limits; one partition per task queue, as its development server has. */
export function temporalDynamicConfig(): string {
  const rates = ['frontend', 'history', 'matching'].flatMap((name) => [`${name}.rps`, `${name}.persistenceMaxQPS`]);
  const values = {
    ...Object.fromEntries([...rates, 'frontend.namespaceRPS'].map((key) => [key, LIMIT])),
    'matching.numTaskqueueReadPartitions': 1,
    'matching.numTaskqueueWritePartitions': 1,
  };
  return JSON.stringify(Object.fromEntries(Object.entries(values).map(([key, value]) => [key, [{ value }]])));
}

function storeIn({ host, port, user, password }: StackFacts['postgres'], store: keyof typeof TEMPORAL_DATABASES) {
  return {
    sql: {
      pluginName: 'postgres12_pgx',
      databaseName: TEMPORAL_DATABASES[store],
      connectAddr: `${host}:${String(port)}`,
      connectProtocol: 'tcp',
      user,
      password,
      maxConns: CONNECTIONS[store],
      maxIdleConns: CONNECTIONS[store],
      maxConnLifetime: '1h',
    },
  };
}
