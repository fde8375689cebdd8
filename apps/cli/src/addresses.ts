// Addresses that flags name: what is none is said so before anything is asked, for it would look like a service that is away.
//
// Invariants
//   A1. A flag takes what its variable takes: who may be told an address is the same for both.
import type { Variable } from '@recourse/config';
import { CliProblem } from './problem.js';

/** Flags that name an address, how it begins, and the variable that says the same. */
const ADDRESSES = {
  contractsUrl: { flag: '--contracts-url', begins: 'http://', says: 'contractsUrl' },
  ledgerUrl: { flag: '--ledger-url', begins: 'http://', says: 'ledgerUrl' },
  recoveriesUrl: { flag: '--recoveries-url', begins: 'http://', says: 'recoveriesUrl' },
  budgetUrl: { flag: '--budget-url', begins: 'http://', says: 'budgetUrl' },
  notifierUrl: { flag: '--notifier-url', begins: 'http://', says: 'notifierUrl' },
  issuerUrl: { flag: '--issuer-url', begins: 'http://', says: 'issuerUrl' },
  registry: { flag: '--registry', begins: 'http://', says: 'registryUrl' },
  brokers: { flag: '--brokers', begins: '', says: 'brokers' },
  databaseUrl: { flag: '--database-url', begins: 'postgres://', says: 'databaseUrl' },
} as const;

type Name = keyof typeof ADDRESSES;
type Rules = Readonly<Record<(typeof ADDRESSES)[Name]['says'], Pick<Variable<unknown>, 'schema' | 'range'>>>;

/** Errors: CliProblem(ADDRESS_INVALID); what may hold a password is not repeated. */
export function refuseBadAddresses(flags: { readonly [Flag in Name]?: string }, rules: Rules): void {
  for (const name of Object.keys(ADDRESSES) as Name[]) {
    const { flag, begins, says } = ADDRESSES[name];
    const given = flags[name];
    if (given === undefined) continue;
    const { schema, range } = rules[says];
    const [problem] = schema.safeParse(given).error?.issues ?? [];
    if (problem === undefined) continue;
    if (isOfKind(begins, given))
      throw new CliProblem('ADDRESS_INVALID', `${flag}: ${problem.message}`, 'usage', { remedy: `Write ${range}.` });
    const shown = name === 'databaseUrl' || given.includes('@') ? 'what it was given' : JSON.stringify(given);
    throw new CliProblem('ADDRESS_INVALID', `${flag}: ${shown} is no address`, 'usage', {
      remedy: begins === '' ? `Write ${range}.` : `Write it as ${begins}host:port.`,
    });
  }
}

function isOfKind(begins: (typeof ADDRESSES)[Name]['begins'], address: string): boolean {
  if (begins === '') return false;
  return (begins === 'http://' ? /^\s*https?:\/\//u : /^\s*postgres(ql)?:\/\//u).test(address) && URL.canParse(address);
}
