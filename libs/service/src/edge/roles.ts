// Roles, and what each gives; for whoever needs no more of the edge than that.

/** Every role that gives a power, and which. A word that is not here gives none. */
export const ROLES = {
  viewer: 'reads what is of its tenant, and changes nothing',
  reporter: 'says that something went wrong, which asks for a rollback',
  requester: 'asks for the undo of an action or a run',
  approver: 'approves, denies and closes what waits for a person; lets a frozen agent rise again',
  contract_editor: 'registers, confirms and retires contracts, charters, policies and sources',
  operator: 'stops agents and tools, and releases them; subscribes consumers',
  budget_owner: 'sets ceilings, and says what an agent has to earn before it may do more',
  agent: 'acts and asks beforehand; a program, which decides nothing that people are asked',
  payload_reader: 'reads what is of its tenant and is shown what sealed payloads hold; each reading is put on record',
  auditor: 'reads every tenant, and who read payloads',
  administrator:
    "closes items and edits contracts; of all tenants, looks after parked records, keys and what is the platform's",
  platform_editor:
    "registers, confirms and retires what is the platform's: contracts, charters, policies, sources, switches, subscriptions",
  platform_approver: 'approves in every tenant, as an approver of each',
} as const satisfies Record<string, string>;

export type Role = keyof typeof ROLES;

export const ALL_TENANTS = '*';
/** Roles that only a token for all tenants carries. */
const PLATFORM_ROLES: readonly string[] = ['platform_editor', 'platform_approver'];
/** Only these count in a token for all tenants: what somebody is in one tenant says nothing about the others. */
export const ROLES_OF_ALL: readonly string[] = ['administrator', 'auditor', ...PLATFORM_ROLES];

/** Does a role give anything in a token for this tenant, or for all? */
export function counts(role: string, tenant: string): boolean {
  return tenant === ALL_TENANTS ? ROLES_OF_ALL.includes(role) : !PLATFORM_ROLES.includes(role);
}

/** What a role of a token for all tenants gives beside itself. No token carries the second word of an administrator: it tells who is one of all tenants from who is one of the tenant that a command is about. */
const OF_ALL_GIVES: Readonly<Record<string, string>> = {
  platform_approver: 'approver',
  administrator: 'platform_administrator',
};

/** What words of a token give for its tenant, or for all: those that count there, each once. A platform approver is an approver of each tenant. */
export function rolesGiven(words: readonly string[], tenant: string): readonly string[] {
  const roles = [...new Set(words)].filter((word) => Object.hasOwn(ROLES, word) && counts(word, tenant));
  if (tenant !== ALL_TENANTS) return roles;
  const given = Object.entries(OF_ALL_GIVES).flatMap(([role, word]) => (roles.includes(role) ? [word] : []));
  return [...roles, ...given];
}

/** Do these words give anything at all? */
export function giveAnything(words: readonly string[], tenant: string): boolean {
  return words.some((word) => Object.hasOwn(ROLES, word) && counts(word, tenant));
}
