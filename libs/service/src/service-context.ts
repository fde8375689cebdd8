// What controllers get: one token with the parts of the service.
import type { BroadcastView, Doc, KeyStore, ServiceCore } from '@recourse/event-log';
import type { Metrics } from '@recourse/telemetry';
import type { Access } from './edge/access.js';
import type { Authenticate } from './edge/authenticate.js';
import type { CommandEdge } from './edge/command-edge.js';
import type { Limits } from './edge/limits.js';
import type { Elsewhere } from './elsewhere.js';
import type { ProjectionEnd } from './projection-end.js';
import type { ServiceHost } from './service-host.js';

/** What one service is made of, beside its configuration. */
export interface ServiceDefinition {
  /** Name of the process and of its consumer group, e.g. `mutation-ledger`. */
  readonly name: string;
  readonly cores: readonly Pick<ServiceCore, 'log'>[];
  /** Command wire of the service. */
  readonly commandTopic: string;
  /** Log of its commands' answers. */
  readonly commandLog: string;
}

export interface ServiceContext {
  readonly definition: ServiceDefinition;
  readonly host: Pick<ServiceHost, 'health' | 'page' | 'commandRow' | 'partition'>;
  readonly edge: Pick<CommandEdge, 'submit' | 'lookUp'>;
  readonly projection: Pick<ProjectionEnd, 'isReached'>;
  readonly authenticate: Authenticate;
  /** Row of a route, by method and pattern; undefined lets nobody in. */
  readonly access: (route: string) => Access | undefined;
  readonly limits: Limits;
  readonly metrics: Metrics;
  /** Destroys what seals the data of a subject, a window, or a unit of a subject. */
  readonly keys: Pick<KeyStore, 'destroy' | 'destroyUnits'>;
  /** Docs of the projection with what their sealed payloads hold; `Reads` says who may see them, and records it. Anew: keys are asked for whatever is believed of them. Errors: Failure(KEY_STORE_UNAVAILABLE). */
  readonly shown: (docs: readonly Doc[], isAnew?: boolean) => Promise<readonly Doc[]>;
  /** What the service has folded of a broadcast log, read to the end that was seen a moment ago; null before the loop runs. Absent where there is no loop. */
  readonly view?: (name: string) => Promise<BroadcastView | null>;
  /** Partition count of a log; asked once. */
  readonly partitionCount: (topic: string) => Promise<number>;
  /** What waits for partitions that this process does not own. Absent where there is no loop. */
  readonly elsewhere?: Pick<Elsewhere, 'but'>;
  readonly onError: (error: unknown) => void;
}

/** What every HTTP edge needs, also that of a program beside the services. */
export interface EdgeContext {
  readonly definition: Pick<ServiceDefinition, 'name'>;
  readonly host: Pick<ServiceHost, 'health'>;
  readonly authenticate: Authenticate;
  /** Row of a route, by method and pattern; undefined lets nobody in. */
  readonly access: (route: string) => Access | undefined;
  readonly limits: Limits;
  readonly metrics: Metrics;
  readonly onError: (error: unknown) => void;
}

/** Token of the ServiceContext, or of the EdgeContext where there is no more. */
export const SERVICE_CONTEXT = Symbol('ServiceContext');
