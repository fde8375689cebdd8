// What a system on top of the stack may be asked for, and what is planned then.
import type { StoryUrls } from '@recourse/example-drifted-refund';
import type { DatabaseAddress } from './databases.js';
import type { ProcessSpec } from './processes.js';
import type { SystemSecrets } from './secrets.js';

export const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'] as const;
export type ServiceName = (typeof SERVICES)[number];

/** Tells approvers what waits: a program beside the services, with a database of its own. */
export const NOTIFIER = 'notifier';

/** Signs heads of every log: a program beside the services, with a key and a folder of its own. */
export const AUDITOR = 'auditor';

/** Signs heads of the auditor that extend what it signed before: a program with a key of its own. */
export const WITNESS = 'witness';

/** Where people look and decide: a program beside the services. */
export const CONSOLE = 'console';

export interface SystemOptions {
  /** Where keys and the processes' own files live. */
  readonly dataDir: string;
  /** Instances of every service. Default 1. */
  readonly instances?: number;
  /** Partitions of a partitioned topic. Default 2. */
  readonly partitions?: number;
  /** Without them only the services and the issuer run. Default true. */
  readonly withExample?: boolean;
  /** The little services and their worker, which serves their adapters. Default false. */
  readonly withLittleServices?: boolean;
  /** Adapters that workers serve, beside those of the processes above: each gets its request topic. Default: payments. */
  readonly adapters?: readonly string[];
  /** The notifier, and an example of a receiver it tells. Default false. */
  readonly withNotifier?: boolean;
  /** The auditor, which signs heads of every log, and a witness of it; both start beside the others. Default false. */
  readonly withAuditor?: boolean;
  /** The console; it shows what the notifier knows, so it wants that too. Default false. */
  readonly withConsole?: boolean;
  /** Name under which loyalty subscribes to rollbacks; it only follows them unless told. */
  readonly subscribedAs?: string;
  /** Endpoints the notifier tells instead of the example's: the path of a file as docs/guides/operate-recoveries.md shows it. */
  readonly webhooksFile?: string;
  /** Added to the environment of the notifier. */
  readonly notifierEnv?: Readonly<Record<string, string>>;
  /** Brokers the services are told of, for a proxy in between. Default: the stack's. */
  readonly serviceBrokers?: readonly string[];
  /** Added to the environment of every service. */
  readonly serviceEnv?: Readonly<Record<string, string>>;
  /** Added to the environment of one service. */
  readonly envOf?: Readonly<Partial<Record<ServiceName, Readonly<Record<string, string>>>>>;
  readonly onProgress?: (line: string) => void;
}

export interface SystemPlan {
  readonly processes: readonly ProcessSpec[];
  /** Base addresses of the first instance of everything. */
  readonly urls: StoryUrls & {
    readonly worker: string;
    readonly services: string;
    readonly notifier: string;
    readonly receiver: string;
    readonly console: string;
  };
  readonly databases: Readonly<Record<ServiceName, DatabaseAddress>>;
  readonly keyStoreUrl: string;
  readonly logId: string;
  readonly secrets: SystemSecrets;
  /** Where the auditor's heads are, and who signs them; null without one. */
  readonly audited: Audited | null;
}

export interface Audited {
  /** Signed heads, newest last. */
  readonly headsFile: string;
  /** Verifier keys, in files for whoever checks. */
  readonly auditorKeyFile: string;
  readonly witnessKeyFile: string;
}
