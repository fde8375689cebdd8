// Words of the contract aggregate: what is asked, what is recorded, what is refused.
import type { Contract, ContractProblem, Difference } from '@recourse/contract';
import type { Rejection } from '@recourse/kernel';
import type {
  ContractRegistered,
  ContractRetired,
  RegistrationDropped,
  RegistrationProposed,
} from '@recourse/messages';

/** Fields the loop adds to every record. */
type ChainFields = 'seq' | 'prev_hash' | 'decided_at';

/** Who asks. */
export interface Asker {
  readonly commandId: string;
  readonly tenant: string;
  readonly principal: string;
  /** Accounts that the directory knows of them. */
  readonly accounts: readonly string[];
  readonly roles: readonly string[];
}

export type ContractCommand =
  | {
      readonly type: 'RegisterContract';
      readonly asker: Asker;
      readonly name: string;
      readonly body: string;
      /** Weaker versions of the same request, without which it is not sound: it waits for a second person with them. */
      readonly waitsFor?: readonly string[];
    }
  | { readonly type: 'RetireContract'; readonly asker: Asker; readonly name: string; readonly version: number }
  /** `digest` is 64 hex digits: exactly what was proposed is confirmed. */
  | { readonly type: 'ConfirmRegistration'; readonly asker: Asker; readonly name: string; readonly digest: string }
  | { readonly type: 'WithdrawRegistration'; readonly asker: Asker; readonly name: string };

export type ContractEvent =
  | { readonly type: 'ContractRegistered'; readonly body: Omit<ContractRegistered, ChainFields> }
  | { readonly type: 'ContractRetired'; readonly body: Omit<ContractRetired, ChainFields> }
  | { readonly type: 'RegistrationProposed'; readonly body: Omit<RegistrationProposed, ChainFields> }
  | { readonly type: 'RegistrationDropped'; readonly body: Omit<RegistrationDropped, ChainFields> };

export type ContractEventType = ContractEvent['type'];

/** Owner of what holds for every tenant: the platform. */
export const PLATFORM = '*';

/** Roles that may change contracts of the tenant they are asked for. */
export const EDITOR_ROLES = ['contract_editor', 'administrator'] as const;

/** Roles that may change contracts of the platform; the edge lets only tokens for all tenants carry them there. */
export const PLATFORM_EDITOR_ROLES = ['platform_editor', 'administrator'] as const;

/** Refusals of a command, with their HTTP status. */
export const CONTRACT_REJECTIONS = {
  ROLE_REQUIRED: 403,
  TENANT_MISMATCH: 403,
  SELF_CONFIRMATION: 403,
  CONFIRMER_NOT_A_PERSON: 403,
  CONTRACT_OF_PLATFORM: 403,
  CONTRACT_UNKNOWN: 404,
  PROPOSAL_UNKNOWN: 404,
  PROPOSAL_DIFFERS: 409,
  CONTRACT_RETIRED: 409,
  CONTRACT_VERSION_UNEXPECTED: 409,
  CONTRACT_NAME_MISMATCH: 422,
  CONTRACT_NAMED_TWICE: 422,
  CONTRACTS_TOO_LARGE: 422,
  CONTRACT_REFUSED: 422,
} as const;

export type ContractRejectionCode = keyof typeof CONTRACT_REJECTIONS;

/** A refused command; `problems` lists all that is wrong with the contract. */
export interface ContractRejection extends Rejection<ContractRejectionCode> {
  readonly problems?: readonly ContractProblem[];
}

/** A version as the log left it. */
export interface ContractVersion {
  readonly name: string;
  readonly version: number;
  readonly tenant: string;
  /** 64 hex digits. */
  readonly digest: string;
  readonly body: string;
  readonly retired: boolean;
}

/** A weaker version that waits for a second person, or the end of a stricter one. */
export interface Proposal {
  readonly name: string;
  readonly version: number;
  readonly tenant: string;
  /** 64 hex digits. */
  readonly digest: string;
  readonly body: string;
  readonly weakenings: readonly string[];
  /** It is a version that stands and would be retired. */
  readonly retires: boolean;
  readonly proposed_by: string;
  /** Epoch milliseconds. */
  readonly expires_at: number;
}

/** What a decision about one capability may look at. */
export interface ContractState {
  /** Every version of the capability that belongs to who asks, in any order. */
  readonly versions: readonly ContractVersion[];
  /** The platform's newest contract of the capability unless it is retired, which a tenant may tighten and never loosen; null for the platform itself. */
  readonly platform: Contract | null;
  /** What waits for a second person. */
  readonly proposal: Proposal | null;
  /** The standing contract of another capability that binds who asks. */
  readonly contractOf: (name: string) => Contract | undefined;
  /** Database time, epoch milliseconds. */
  readonly now: number;
}

/** What a caller hears of a version. `proposed`: a second person has to confirm it first. */
export type Outcome = Pick<ContractVersion, 'name' | 'version' | 'digest'> & {
  readonly state: 'registered' | 'proposed' | 'retired' | 'withdrawn';
  /** Against the version before; absent where there is none or nothing was compared. */
  readonly differences?: readonly Difference[];
  readonly expires_at?: number;
};

export type ContractAnswer =
  | {
      readonly kind: 'recorded';
      readonly events: readonly ContractEvent[];
      readonly outcome: Outcome;
      readonly isNew: boolean;
    }
  /** The same was said before: nothing to record. */
  | { readonly kind: 'unchanged'; readonly outcome: Outcome }
  | { readonly kind: 'rejected'; readonly rejection: ContractRejection };
