// What one call of the command line works with: settings, a token, the services, the terminal.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { userInfo } from 'node:os';
import { bodyOf, edgeClient, systemClock } from '@recourse/sdk';
import type { Clock, EdgeClient } from '@recourse/sdk';
import { known, resolveSettings } from './config.js';
import type { Flags, Service, Settings } from './config.js';
import type { Terminal } from './output/terminal.js';
import { CliProblem } from './problem.js';

/** What the program gets from outside. */
export interface Surroundings {
  readonly terminal: Terminal;
  readonly environment: NodeJS.ProcessEnv;
  /** Relative paths are meant from here. */
  readonly folder: string;
  readonly fetch: typeof fetch;
  /** The host's unless told. */
  readonly clock?: Clock;
}

export interface Session {
  readonly flags: Flags;
  readonly settings: Settings;
  readonly terminal: Terminal;
  readonly folder: string;
  readonly isJson: boolean;
  readonly clock: Clock;
  readonly tenant: string | null;
  service(name: Service): EdgeClient;
  /** The same as somebody with another token, or with none: for probes of what an edge refuses. */
  stranger(name: Service, token: string | null): EdgeClient;
  /** The next request reads or asks for the token anew: a call that goes on for long outlives one. */
  renewToken(): void;
  /** Shows a result: `json` for scripts, `text` for people. */
  show(json: unknown, text: () => string): void;
}

/** Roles that a development token carries unless --roles names others: everything one person at the desk may do. An administrator edits contracts; no approver is an editor. Those that do not count for the tenant, or for all, the edge leaves out. */
const DEVELOPMENT_ROLES = [
  'approver',
  'operator',
  'budget_owner',
  'administrator',
  'auditor',
  'payload_reader',
  'platform_approver',
] as const;
const ALL_TENANTS = '*';
/** Above the services' own patience of 10 s: a person waits for an answer rather than asks again. */
const REQUEST_TIMEOUT_MS = 20_000;
const FLAG_OF: Readonly<Record<Service, string>> = {
  contracts: '--contracts-url',
  ledger: '--ledger-url',
  recoveries: '--recoveries-url',
  budgets: '--budget-url',
  notifier: '--notifier-url',
};

/** Begins a session; nothing is asked before it is needed. Errors: those of resolveSettings. */
export function openSession(
  flags: Flags,
  { terminal, environment, folder, fetch, clock = systemClock }: Surroundings,
): Session {
  const settings = resolveSettings(flags, environment, folder);
  const isJson = flags.json === true;
  let token: Promise<string | null> | null = null;
  const tokenOnce = (): Promise<string | null> => (token ??= tokenOf(flags, settings, { fetch, folder, terminal }));
  const clientOf = (name: Service, tokenOfIt: () => Promise<string | null>): EdgeClient =>
    edgeClient({
      name,
      timeoutMs: REQUEST_TIMEOUT_MS,
      url: known(
        settings.services[name],
        name === 'notifier' ? 'where the notifier is' : `where ${name} are`,
        FLAG_OF[name],
      ),
      token: tokenOfIt,
      fetch,
      clock,
    });
  return {
    flags,
    settings,
    terminal,
    folder,
    isJson,
    clock,
    tenant: settings.tenant,
    service: (name) => clientOf(name, tokenOnce),
    stranger: (name, other) => clientOf(name, () => Promise.resolve(other)),
    renewToken: () => {
      token = null;
    },
    show: (json, text) => {
      terminal.out(isJson ? JSON.stringify(json, null, 2) : text());
    },
  };
}

/** The token given; else, where a development issuer is known, one of its. Errors: CliProblem(TOKEN_FILE_UNREADABLE, ISSUER_UNKNOWN). */
async function tokenOf(
  flags: Flags,
  settings: Settings,
  more: Pick<Surroundings, 'fetch' | 'folder' | 'terminal'>,
): Promise<string | null> {
  if (flags.as === undefined && settings.token !== null) return settings.token;
  if (flags.as === undefined && settings.tokenFile !== null) return readToken(resolve(more.folder, settings.tokenFile));
  if (settings.issuerUrl !== null) return askIssuer(flags, settings.issuerUrl, settings.tenant, more.fetch);
  if (flags.as === undefined) return null;
  throw new CliProblem('ISSUER_UNKNOWN', '--as asks a development issuer, and none is known', 'usage', {
    remedy: 'Pass --token-file, or --issuer-url of a development stack.',
  });
}

function readToken(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new CliProblem('TOKEN_FILE_UNREADABLE', `${file} cannot be read`, 'usage', {
      cause,
      remedy: 'Name a file that holds a bearer token.',
    });
  }
}

/** Without --as it is the person of this operating system account, for all tenants. */
async function askIssuer(
  flags: Flags,
  issuerUrl: string,
  tenant: string | null,
  fetcher: typeof fetch,
): Promise<string> {
  const roles =
    flags.roles
      ?.split(',')
      .map((role) => role.trim())
      .filter((role) => role !== '') ?? DEVELOPMENT_ROLES;
  const body = { subject: flags.as ?? userInfo().username, tenant: tenant ?? ALL_TENANTS, roles };
  const issuer = edgeClient({
    url: issuerUrl,
    name: 'the development issuer',
    token: () => Promise.resolve(null),
    fetch: fetcher,
  });
  const { access_token: token } = bodyOf(await issuer.ask({ method: 'POST', path: '/token', body }));
  if (typeof token !== 'string')
    throw new CliProblem('TOKEN_MISSING', 'the development issuer gave no token', 'unavailable');
  return token;
}
