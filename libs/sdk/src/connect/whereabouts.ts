// Where everything is, for a program: what it says itself, then the environment, then the development stack it finds.
import { ConnectProblem } from './connect.problem.js';
import type { StackFile } from './stack-file.js';

/** Variables a connection reads; the command line reads the same. */
export const CONNECT_VARIABLES = [
  'RECOURSE_DATA_DIR',
  'RECOURSE_CONTRACTS_URL',
  'RECOURSE_LEDGER_URL',
  'RECOURSE_RECOVERIES_URL',
  'RECOURSE_BUDGET_URL',
  'RECOURSE_ISSUER_URL',
  'RECOURSE_KAFKA_BROKERS',
  'RECOURSE_KAFKA_USER',
  'RECOURSE_KAFKA_PASSWORD_FILE',
  'RECOURSE_KAFKA_CA_FILE',
  'RECOURSE_REGISTRY_URL',
  'RECOURSE_LOG_ID',
  'RECOURSE_TOKEN',
  'RECOURSE_TOKEN_FILE',
  'RECOURSE_TENANT',
  'RECOURSE_WIRES',
  'RECOURSE_KEYRING_FILE',
  'RECOURSE_SIGNING_KEY_FILE',
  'RECOURSE_SIGNING_KEY_ID',
] as const;
type Variable = (typeof CONNECT_VARIABLES)[number];
/** An environment, as `process.env` is one. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Addresses a program may name itself. */
export interface Addresses {
  /** Contract registry. */
  readonly contractsUrl: string;
  readonly ledgerUrl: string;
  /** Recovery orchestrator. */
  readonly recoveriesUrl: string;
  readonly budgetUrl: string;
  /** `host:port` of some brokers. */
  readonly brokers: readonly string[];
  /** Schema registry, Confluent interface. */
  readonly registryUrl: string;
}

/** Where everything is. */
export interface Whereabouts extends Addresses {
  /** Issuer of a development stack; null where tokens come from elsewhere. */
  readonly issuerUrl: string | null;
  /** Name the logs were begun with; null where nothing says it: only who reads a log needs it. */
  readonly logId: string | null;
}

const VARIABLE_OF: Readonly<Record<keyof Addresses, Variable>> = {
  contractsUrl: 'RECOURSE_CONTRACTS_URL',
  ledgerUrl: 'RECOURSE_LEDGER_URL',
  recoveriesUrl: 'RECOURSE_RECOVERIES_URL',
  budgetUrl: 'RECOURSE_BUDGET_URL',
  brokers: 'RECOURSE_KAFKA_BROKERS',
  registryUrl: 'RECOURSE_REGISTRY_URL',
};

/** What is said of each address, first come first served. Errors: ConnectProblem(STACK_NOT_FOUND, ADDRESS_INVALID). Pure. */
export function whereaboutsOf(
  given: Partial<Addresses> & { readonly issuerUrl?: string; readonly logId?: string },
  environment: Environment,
  stack: StackFile | null,
): Whereabouts {
  const said = (name: Exclude<keyof Addresses, 'brokers'>): string =>
    given[name] ?? valueIn(environment, VARIABLE_OF[name]) ?? inStack(stack)?.[name] ?? '';
  const found: Whereabouts = {
    contractsUrl: said('contractsUrl'),
    ledgerUrl: said('ledgerUrl'),
    recoveriesUrl: said('recoveriesUrl'),
    budgetUrl: said('budgetUrl'),
    registryUrl: said('registryUrl'),
    brokers: given.brokers ?? brokersIn(environment) ?? stack?.brokers ?? [],
    issuerUrl: given.issuerUrl ?? valueIn(environment, 'RECOURSE_ISSUER_URL') ?? stack?.urls.issuer ?? null,
    logId: given.logId ?? valueIn(environment, 'RECOURSE_LOG_ID') ?? stack?.logId ?? null,
  };
  refuseMissing(found);
  refuseUnusable(found);
  return found;
}

/** A variable that says something; an empty one says nothing. */
export function valueIn(environment: Environment, name: Variable): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}

function brokersIn(environment: Environment): readonly string[] | undefined {
  return valueIn(environment, 'RECOURSE_KAFKA_BROKERS')
    ?.split(',')
    .map((broker) => broker.trim());
}

function inStack(stack: StackFile | null): Omit<Addresses, 'brokers'> | null {
  return stack === null
    ? null
    : {
        contractsUrl: stack.urls.registry,
        ledgerUrl: stack.urls.ledger,
        recoveriesUrl: stack.urls.orchestrator,
        budgetUrl: stack.urls.budget,
        registryUrl: stack.registryUrl,
      };
}

function refuseMissing(found: Whereabouts): void {
  const missing = Object.entries(VARIABLE_OF).filter(([name]) => found[name as keyof Addresses].length === 0);
  if (missing.length === 0) return;
  const variables = missing.map(([, variable]) => variable).join(', ');
  throw new ConnectProblem(
    'STACK_NOT_FOUND',
    `no development stack was found here or in a folder above, and nothing says ${variables}`,
  );
}

function refuseUnusable({ brokers, logId: _, ...urls }: Whereabouts): void {
  const wrong = [
    ...Object.entries(urls).flatMap(([name, url]) => (url === null || isHttp(url) ? [] : [`${name} ${url}`])),
    ...brokers.filter((broker) => !/^[^\s/]+:\d{1,5}$/.test(broker)).map((broker) => `brokers ${broker}`),
  ];
  if (wrong.length > 0) throw new ConnectProblem('ADDRESS_INVALID', `no address can be read in: ${wrong.join('; ')}`);
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}
