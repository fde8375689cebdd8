// Addresses that flags name: what is none is said so before anything is asked, for it would look like a service that is away.
import { CliProblem } from './problem.js';

const HTTP = ['http:', 'https:'];
const POSTGRES = ['postgres:', 'postgresql:'];

/** Flags that name an address, and how it begins. */
const ADDRESSES = {
  contractsUrl: { flag: '--contracts-url', protocols: HTTP },
  ledgerUrl: { flag: '--ledger-url', protocols: HTTP },
  recoveriesUrl: { flag: '--recoveries-url', protocols: HTTP },
  budgetUrl: { flag: '--budget-url', protocols: HTTP },
  notifierUrl: { flag: '--notifier-url', protocols: HTTP },
  issuerUrl: { flag: '--issuer-url', protocols: HTTP },
  registry: { flag: '--registry', protocols: HTTP },
  databaseUrl: { flag: '--database-url', protocols: POSTGRES },
} as const satisfies Readonly<Record<string, { readonly flag: string; readonly protocols: readonly string[] }>>;

/** Errors: CliProblem(ADDRESS_INVALID); a password in an address is not repeated. */
export function refuseBadAddresses(flags: { readonly [Name in keyof typeof ADDRESSES]?: string }): void {
  for (const name of Object.keys(ADDRESSES) as (keyof typeof ADDRESSES)[]) {
    const { flag, protocols } = ADDRESSES[name];
    const given = flags[name];
    if (given === undefined || protocols.includes(URL.parse(given)?.protocol ?? '')) continue;
    const shown = name === 'databaseUrl' ? 'what it was given' : JSON.stringify(given);
    throw new CliProblem('ADDRESS_INVALID', `${flag}: ${shown} is no address`, 'usage', {
      remedy: `Write it as ${protocols[0] ?? ''}//host:port.`,
    });
  }
}
