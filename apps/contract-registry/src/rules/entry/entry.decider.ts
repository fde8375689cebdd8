// Decides what becomes of an entry that somebody wants to register or retire.
import { ENTRY_KINDS, reviewEntry, routineProblem, unroutine } from '@recourse/contract';
import type { Contract, EntryBody, EntryProblem } from '@recourse/contract';
import { assertNever, canonicalJson, sha256Hex } from '@recourse/kernel';
import type { EntryKind } from '@recourse/messages';
import { PLATFORM } from '../contract/contract.messages.js';
import { ENTRY_ROLES, PLATFORM_ENTRY_ROLES } from './entry.messages.js';
import type { EntryAnswer, EntryCommand, EntryRejection, EntryRejectionCode, EntryVersion } from './entry.messages.js';

/** Names are parts of keys: no slash, no blank, bounded. */
export const ENTRY_NAME_PATTERN = /^[\w][\w.:@-]{0,127}$/;

/**
 * Subscriptions that one tenant may have at once. With those for all tenants every rollback waits for twice as many at the
 * most, which is what one decision of the ledger may hold (L4).
 */
export const SUBSCRIPTIONS_MAX = 100;

type ContractOf = (capability: string) => Contract | undefined;

/** Answers a command with the record it makes, with what stands already, or with a coded refusal. `standing` is the newest version, if there ever was one; `others` is how many more of its kind stand, `contractOf` the newest contract of a capability that the tenant may use. */
export function decideEntry(
  command: EntryCommand,
  standing: EntryVersion | undefined,
  others: number,
  contractOf: ContractOf,
): EntryAnswer {
  const kind = ENTRY_KINDS.find((each) => each === command.kind);
  if (kind === undefined) return rejected('ENTRY_KIND_UNKNOWN', `there is no kind ${command.kind}`);
  const isPlatform = command.asker.tenant === PLATFORM;
  const roles: readonly string[] = (isPlatform ? PLATFORM_ENTRY_ROLES : ENTRY_ROLES)[kind];
  if (!roles.some((role) => command.asker.roles.includes(role)))
    return rejected(
      'ROLE_REQUIRED',
      `a ${kind}${isPlatform ? ' of the platform' : ''} is changed by ${roles.join(' or ')}`,
    );
  if (!ENTRY_NAME_PATTERN.test(command.name))
    return rejected('ENTRY_NAME_INVALID', 'a name has letters, digits and . : @ _ - and at most 128 characters');
  if (command.type === 'RegisterEntry' && kind === 'subscription' && others >= SUBSCRIPTIONS_MAX)
    return rejected(
      'SUBSCRIPTIONS_FULL',
      `${SUBSCRIPTIONS_MAX} subscriptions of this tenant stand; retire one, or let one consumer hear for several`,
    );
  switch (command.type) {
    case 'RegisterEntry':
      return register(command, kind, standing, contractOf);
    case 'RetireEntry':
      return retire(command, standing);
    default:
      return assertNever(command);
  }
}

function register(
  { asker, name, body }: Extract<EntryCommand, { type: 'RegisterEntry' }>,
  kind: EntryKind,
  standing: EntryVersion | undefined,
  contractOf: ContractOf,
): EntryAnswer {
  const review = reviewEntry(kind, body, asker.tenant);
  if (!review.ok) return refusedFor(review.problems);
  // The shape of the kind has parsed it.
  const excess = kind === 'policy_bundle' ? excessOf(review.entry as EntryBody<'policy_bundle'>, contractOf) : [];
  if (excess.length > 0) return refusedFor(excess);
  const text = canonicalJson(review.entry);
  if (standing !== undefined && !standing.retired && standing.body === text)
    return { kind: 'unchanged', entry: shown(standing) };
  const stopped = kind === 'kill_switch' ? scopeStopped(standing) : null;
  if (stopped !== null && stopped !== canonicalJson((review.entry as EntryBody<'kill_switch'>).scope))
    return rejected(
      'SWITCH_STANDS',
      `${name} is on over ${stopped}; what it stops would go on. Give this one another name, or turn that one off`,
    );
  const digest = sha256Hex(text);
  const entry = { kind, name, tenant: asker.tenant, version: (standing?.version ?? 0) + 1, digest };
  return {
    kind: 'recorded',
    entry,
    event: {
      type: 'EntryRegistered',
      body: {
        ...entry,
        digest: Buffer.from(digest, 'hex'),
        body: text,
        registered_by: asker.principal,
        accounts: asker.accounts,
        command_id: asker.commandId,
      },
    },
  };
}

/** What a switch that is on stops, as canonical JSON; null where none of the name is. */
function scopeStopped(standing: EntryVersion | undefined): string | null {
  if (standing === undefined || standing.retired) return null;
  // It was reviewed when it was registered.
  const { scope } = JSON.parse(standing.body) as EntryBody<'kill_switch'>;
  return canonicalJson(scope);
}

function refusedFor(problems: readonly EntryProblem[]): EntryAnswer {
  return rejected('ENTRY_REFUSED', `the entry has ${problems.length} problems`, { problems });
}

/** What routine rules name and may not let go, as the contracts stand; later versions are judged when somebody asks. */
function excessOf({ routine = [] }: EntryBody<'policy_bundle'>, contractOf: ContractOf): readonly EntryProblem[] {
  return routine.flatMap(({ capabilities }, at) =>
    capabilities.flatMap((capability) => {
      const contract = contractOf(capability);
      const excess = contract === undefined ? null : unroutine(contract);
      return excess === null ? [] : [routineProblem(at, capability, excess)];
    }),
  );
}

function retire(
  { asker, name, reason }: Extract<EntryCommand, { type: 'RetireEntry' }>,
  standing: EntryVersion | undefined,
): EntryAnswer {
  if (standing === undefined) return rejected('ENTRY_UNKNOWN', `there is no ${name}`);
  if (standing.retired) return { kind: 'unchanged', entry: shown(standing) };
  const entry = shown(standing);
  return {
    kind: 'recorded',
    entry,
    event: {
      type: 'EntryRetired',
      body: {
        ...entry,
        digest: Buffer.from(standing.digest, 'hex'),
        retired_by: asker.principal,
        reason,
        command_id: asker.commandId,
      },
    },
  };
}

function shown({
  kind,
  name,
  tenant,
  version,
  digest,
}: EntryVersion): Extract<EntryAnswer, { kind: 'unchanged' }>['entry'] {
  return { kind, name, tenant, version, digest };
}

function rejected(code: EntryRejectionCode, message: string, more: Partial<EntryRejection> = {}): EntryAnswer {
  return { kind: 'rejected', rejection: { code, message, ...more } };
}
