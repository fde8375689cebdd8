// Adapters: which ones workers may be asked through. Each has a request topic of its own, made like that of the catalogue.
import { loadConfig, names } from '@recourse/config';
import type { ConfigOf, Environment } from '@recourse/config';
import { CONNECT_VARIABLES } from '@recourse/sdk';

/** Environment of the development stack. */
export const STACK_CONFIG = {
  adapters: names('RECOURSE_ADAPTERS', {
    doc: 'Adapters that workers serve: the prefixes of capabilities. Each gets a topic `recourse.tool-requests.<adapter>` with as many partitions as every other.',
    // The first part of a capability's name (libs/contract): what does not fit can be no adapter.
    pattern: /^[a-z][a-z0-9-]{0,62}$/,
    form: 'a lower-case name of 1 to 63 letters, digits and -',
    fallback: 'payments',
  }),
} as const;

/** Where a shell tells the command line and the SDK a stack is. Services are told by the stack itself. */
const OF_CLIENTS: readonly string[] = [...CONNECT_VARIABLES, 'RECOURSE_NOTIFIER_URL'];

/** Reads what of an environment is the stack's own. Errors: ConfigInvalid. */
export function adaptersIn(environment: Environment): ConfigOf<typeof STACK_CONFIG>['adapters'] {
  const own = Object.fromEntries(Object.values(STACK_CONFIG).map(({ name }) => [name, environment[name]]));
  return loadConfig(STACK_CONFIG, own).adapters;
}

/** An environment without what is the stack's own, or its clients': no program on top of it is meant by these variables. */
export function withoutStackVariables(environment: Environment): Environment {
  const own = new Set<string>([...Object.values(STACK_CONFIG).map(({ name }) => name), ...OF_CLIENTS]);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !own.has(name)));
}
