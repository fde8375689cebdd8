// What the command line itself did not reach: where it asked, and what to check.
import { problemOf, CliProblem } from './problem.js';
import type { Settings } from './config.js';
import { EdgeProblem } from '@recourse/sdk';

type Places = Pick<Settings, 'brokers' | 'registryUrl'>;

interface Unreached {
  /** Where it was asked; null where the problem itself says so. */
  readonly at: (places: Places) => string | null;
  readonly remedy: string;
}

/** Codes of a service's answer may be the same: it asked elsewhere, and what is here helps nobody then. */
const UNREACHED: Readonly<Record<string, Unreached>> = {
  BROKER_UNAVAILABLE: {
    at: ({ brokers }) => brokers?.join(', ') ?? null,
    remedy: remedyFor('Kafka', '--brokers or RECOURSE_KAFKA_BROKERS', 'RECOURSE_KAFKA_CA_FILE where it speaks TLS'),
  },
  REGISTRY_UNAVAILABLE: {
    at: ({ registryUrl }) => (registryUrl === null ? null : addressIn(registryUrl)),
    remedy: remedyFor('the schema registry', '--registry or RECOURSE_REGISTRY_URL'),
  },
  DATABASE_UNAVAILABLE: {
    at: () => null,
    remedy: remedyFor('PostgreSQL', '--database-url or RECOURSE_DATABASE_URL', 'its user and password'),
  },
};

/** What an action threw, with where it asked and what to check where nobody answered. Pure. */
export function withPlaces(thrown: unknown, places: Places): unknown {
  if (thrown instanceof EdgeProblem) return thrown;
  const problem = problemOf(thrown);
  const unreached = UNREACHED[problem.code];
  if (unreached === undefined) return thrown;
  const at = unreached.at(places);
  return new CliProblem(problem.code, `${problem.message}${at === null ? '' : ` (asked at ${at})`}`, problem.exit, {
    remedy: unreached.remedy,
    problems: problem.problems,
    cause: thrown,
  });
}

/** Host and port of an address, and its path: neither user nor password. Pure. */
export function addressIn(url: string): string {
  const read = URL.parse(url);
  return read === null ? url : `${read.host}${read.pathname.replace(/\/$/, '')}`;
}

function remedyFor(what: string, named: string, also?: string): string {
  const checks = [`that ${what} runs there and can be reached from here`, ...(also === undefined ? [] : [also])];
  return `Check ${checks.join(', and ')}. \`npm start\` starts a development stack; ${named} names another address, --data-dir another stack.`;
}
