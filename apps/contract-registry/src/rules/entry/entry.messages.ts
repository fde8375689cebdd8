// Words of the entry aggregate: what the registry keeps beside contracts, versioned alike.
import type { EntryProblem } from '@recourse/contract';
import type { Rejection } from '@recourse/kernel';
import type { EntryKind, EntryRegistered, EntryRetired } from '@recourse/messages';
import { PLATFORM_EDITOR_ROLES } from '../contract/contract.messages.js';
import type { Asker } from '../contract/contract.messages.js';

/** Fields the loop adds to every record. */
type ChainFields = 'seq' | 'prev_hash' | 'decided_at';

export type EntryCommand =
  | {
      readonly type: 'RegisterEntry';
      readonly asker: Asker;
      readonly kind: string;
      readonly name: string;
      readonly body: string;
    }
  | {
      readonly type: 'RetireEntry';
      readonly asker: Asker;
      readonly kind: string;
      readonly name: string;
      readonly reason: string;
    };

export type EntryEvent =
  | { readonly type: 'EntryRegistered'; readonly body: Omit<EntryRegistered, ChainFields> }
  | { readonly type: 'EntryRetired'; readonly body: Omit<EntryRetired, ChainFields> };

export type EntryEventType = EntryEvent['type'];

/** Roles that may change each kind: a kill switch is for whoever is on duty. */
export const ENTRY_ROLES = {
  policy_bundle: ['contract_editor', 'administrator'],
  agent_charter: ['contract_editor', 'administrator'],
  context_source: ['contract_editor', 'administrator'],
  kill_switch: ['operator', 'administrator'],
  subscription: ['contract_editor', 'operator', 'administrator'],
  autonomy_policy: ['budget_owner', 'administrator'],
} as const satisfies Readonly<Record<EntryKind, readonly string[]>>;

/** Roles that may change each kind for the platform; the edge lets only tokens for all tenants carry them there. */
export const PLATFORM_ENTRY_ROLES = {
  policy_bundle: PLATFORM_EDITOR_ROLES,
  agent_charter: PLATFORM_EDITOR_ROLES,
  context_source: PLATFORM_EDITOR_ROLES,
  kill_switch: PLATFORM_EDITOR_ROLES,
  subscription: PLATFORM_EDITOR_ROLES,
  autonomy_policy: PLATFORM_EDITOR_ROLES,
} as const satisfies Readonly<Record<EntryKind, readonly string[]>>;

/** Refusals of a command, with their HTTP status. */
export const ENTRY_REJECTIONS = {
  ROLE_REQUIRED: 403,
  ENTRY_UNKNOWN: 404,
  SUBSCRIPTIONS_FULL: 409,
  SWITCH_STANDS: 409,
  ENTRY_KIND_UNKNOWN: 422,
  ENTRY_NAME_INVALID: 422,
  ENTRY_REFUSED: 422,
} as const;

export type EntryRejectionCode = keyof typeof ENTRY_REJECTIONS;

/** A refused command; `problems` lists all that is wrong with the entry. */
export interface EntryRejection extends Rejection<EntryRejectionCode> {
  readonly problems?: readonly EntryProblem[];
}

/** An entry as the log left it; the newest version alone. */
export interface EntryVersion {
  readonly kind: EntryKind;
  readonly name: string;
  readonly tenant: string;
  readonly version: number;
  /** 64 hex digits. */
  readonly digest: string;
  readonly body: string;
  readonly retired: boolean;
}

/** What a caller hears of an entry. */
export type EntryTold = Pick<EntryVersion, 'kind' | 'name' | 'tenant' | 'version' | 'digest'>;

export type EntryAnswer =
  | { readonly kind: 'recorded'; readonly event: EntryEvent; readonly entry: EntryTold }
  /** The same was said before: nothing to record. */
  | { readonly kind: 'unchanged'; readonly entry: EntryTold }
  | { readonly kind: 'rejected'; readonly rejection: EntryRejection };
