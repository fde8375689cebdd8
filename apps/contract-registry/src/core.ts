// The contracts log as a table: commands in, versions of contracts and entries out.
//
// Boundary: translates between the loop and the rules. One partition, so every capability is at hand.
//
// Invariants
//   R1. A version never changes once registered; a digest names one body for ever.
//   R2. What waits for a second person binds nobody, and lapses by itself.
//   R3. Of the versions of one owner only the newest binds; where it is retired none does, as the view of the contracts log says it.
//   R4. Every command gets one answer; what is refused leaves no record beside it.
import type { Contract } from '@recourse/contract';
import { CAPABILITY_PATTERN, governing, readContract } from '@recourse/contract';
import { accepted, append, command, commandsOf, core, refused } from '@recourse/event-log';
import type { DecideContext, Decision, ServiceCore, StateView } from '@recourse/event-log';
import type { BodyOf, CommandEnvelope } from '@recourse/messages';
import { decideContract } from './rules/contract/contract.decider.js';
import { CONTRACT_REJECTIONS, PLATFORM } from './rules/contract/contract.messages.js';
import type { Asker, ContractCommand, ContractState, Outcome } from './rules/contract/contract.messages.js';
import { dropped, newestOf, parsed } from './rules/contract/registration.decisions.js';
import { confirmTogether, decideTogether } from './rules/contract/together.decisions.js';
import type { Sent, TogetherAnswer } from './rules/contract/together.decisions.js';
import { decideEntry } from './rules/entry/entry.decider.js';
import { ENTRY_REJECTIONS } from './rules/entry/entry.messages.js';
import type { EntryCommand, EntryTold } from './rules/entry/entry.messages.js';
import {
  CONTRACTS_LOG,
  contractGroup,
  entries,
  entryGroup,
  EVOLVE,
  REGISTRY_ROWS,
  versions,
  waitingOf,
} from './rows.js';

export const REGISTRY_COMMANDS = 'recourse.registry-commands';

/** Builds the core of the contract registry. Who may change what depends on what it is: the rules say so. */
export function registryCore(): ServiceCore {
  return core<typeof CONTRACTS_LOG>(CONTRACTS_LOG, {
    inputs: [
      commandsOf(REGISTRY_COMMANDS, {
        key: null,
        commands: {
          RegisterContract: command('anyone', ({ body, context }) => onRegister(context, body)),
          RetireContract: command('anyone', ({ body: { envelope, name, version }, context }) =>
            onContract(context, { type: 'RetireContract', asker: askerOf(envelope), name, version }),
          ),
          ConfirmRegistration: command('anyone', ({ body, context }) => onConfirm(context, body)),
          WithdrawRegistration: command('anyone', ({ body: { envelope, name }, context }) =>
            onContract(context, { type: 'WithdrawRegistration', asker: askerOf(envelope), name }),
          ),
          RegisterEntry: command('anyone', ({ body: { envelope, kind, name, body }, context }) =>
            onEntry(context, { type: 'RegisterEntry', asker: askerOf(envelope), kind, name, body }),
          ),
          RetireEntry: command('anyone', ({ body: { envelope, kind, name, reason }, context }) =>
            onEntry(context, { type: 'RetireEntry', asker: askerOf(envelope), kind, name, reason }),
          ),
        },
      }),
    ],
    views: [],
    rows: REGISTRY_ROWS,
    keyOf: ({ name }) => name,
    evolve: EVOLVE,
    due: { proposal: ({ state, now }, { address }) => append(...lapse(state, address.group, now)) },
  });
}

function askerOf({ command_id: commandId, tenant, principal, accounts, roles }: CommandEnvelope): Asker {
  return { commandId, tenant, principal, accounts, roles };
}

/** A proposal nobody confirmed in time is dropped; a timer of one that is gone changes nothing. */
function lapse(state: StateView, group: string, now: number): ReturnType<typeof dropped>[] {
  const waiting = waitingOf(state, group);
  return waiting === null || waiting.expires_at > now ? [] : [dropped(waiting, 'lapsed', null)];
}

function onContract({ state, now }: DecideContext, asked: ContractCommand): Decision<Outcome> {
  const answer = decideContract(asked, stateOf(state, asked, now));
  switch (answer.kind) {
    case 'recorded':
      return accepted(answer.isNew ? 201 : 200, answer.outcome, ...answer.events);
    case 'unchanged':
      return accepted(200, answer.outcome);
    case 'rejected': {
      const { code, message, ...more } = answer.rejection;
      return refused(CONTRACT_REJECTIONS[code], code, message, more);
    }
  }
}

function onRegister(
  context: DecideContext,
  { envelope, name, body, together }: BodyOf<typeof REGISTRY_COMMANDS, 'RegisterContract'>,
): Decision<Outcome | Together> {
  const asker = askerOf(envelope);
  return together.length === 0
    ? onContract(context, { type: 'RegisterContract', asker, name, body })
    : onTogether(context, asker, [{ name, body }, ...together.map(named)]);
}

/** Contracts of one request: all register or none does. */
function onTogether({ state, now }: DecideContext, asker: Asker, sent: readonly Sent[]): Decision<Together> {
  return togetherDecision(decideTogether(asker, sent, (name) => stateOf(state, { name, asker }, now)));
}

/** Proposals that a second person looked at: all are confirmed or none is. */
function onConfirm(
  context: DecideContext,
  { envelope, name, digest, together }: BodyOf<typeof REGISTRY_COMMANDS, 'ConfirmRegistration'>,
): Decision<Outcome | Together> {
  const asker = askerOf(envelope);
  const first = { name, digest: digest.toString('hex') };
  const others = Object.entries(together).map(([other, hash]) => ({ name: other, digest: hash.toString('hex') }));
  if (others.length === 0) return onContract(context, { type: 'ConfirmRegistration', asker, ...first });
  const { state, now } = context;
  return togetherDecision(
    confirmTogether(asker, [first, ...others], (other) => stateOf(state, { name: other, asker }, now)),
  );
}

/** Of several contracts. */
type Together = { readonly contracts: readonly Outcome[] };

function togetherDecision(answer: TogetherAnswer): Decision<Together> {
  if (answer.kind === 'recorded')
    return accepted(answer.events.length > 0 ? 201 : 200, { contracts: answer.outcomes }, ...answer.events);
  const { code, message, ...more } = answer.rejection;
  return refused(CONTRACT_REJECTIONS[code], code, message, more);
}

/** A contract with the name it gives itself; empty where it gives none. */
function named(body: string): Sent {
  const { name } = readContract(body).draft;
  return { name: name ?? '', body };
}

/** Longest name that can be a row's key. */
const ENTRY_NAME_MAX = 128;

function onEntry({ state, now }: DecideContext, asked: EntryCommand): Decision<EntryTold> {
  const group = entryGroup(asked.kind, asked.asker.tenant);
  const standing = asked.name.length > ENTRY_NAME_MAX ? null : entries.find(state, group, asked.name);
  // Subscriptions of the tenant that stand, this one left out.
  const others =
    asked.kind === 'subscription'
      ? entries.list(state, group).filter(({ retired, name }) => !retired && name !== asked.name).length
      : 0;
  const { contractOf } = stateOf(state, asked, now);
  const answer = decideEntry(asked, standing ?? undefined, others, contractOf);
  switch (answer.kind) {
    case 'recorded':
      return accepted(answer.event.type === 'EntryRegistered' ? 201 : 200, answer.entry, answer.event);
    case 'unchanged':
      return accepted(200, answer.entry);
    case 'rejected': {
      const { code, message, ...more } = answer.rejection;
      return refused(ENTRY_REJECTIONS[code], code, message, more);
    }
  }
}

/** What a decision may look at: what belongs to who asks, and what the platform says beside it. */
function stateOf(
  state: StateView,
  { name, asker: { tenant } }: Pick<ContractCommand, 'name' | 'asker'>,
  now: number,
): ContractState {
  const standing = (owner: string, other: string): { readonly contract: Contract } | undefined => {
    const newest = newestOf(versions.list(state, contractGroup(owner, other)));
    return newest === undefined || newest.retired ? undefined : { contract: parsed(newest.body) };
  };
  const platformOf = (other: string) => (tenant === PLATFORM ? undefined : standing(PLATFORM, other));
  const contractOf = (other: string) => governing(standing(tenant, other), platformOf(other))?.contract;
  if (!isAddress(name)) return { versions: [], proposal: null, platform: null, contractOf, now };
  const group = contractGroup(tenant, name);
  return {
    versions: versions.list(state, group),
    proposal: waitingOf(state, group),
    platform: platformOf(name)?.contract ?? null,
    contractOf,
    now,
  };
}

/** Anything else was never registered, and may be no address at all. */
function isAddress(name: string): boolean {
  return name.length <= 128 && CAPABILITY_PATTERN.test(name);
}
