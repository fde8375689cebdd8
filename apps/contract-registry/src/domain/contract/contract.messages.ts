// Words of the contract aggregate: what is asked, what is recorded, what is refused.
import type { ContractProblem } from '@recourse/contract';
import type { Rejection } from '@recourse/kernel';
import type { ContractRegistered, ContractRetired } from '@recourse/messages';

/** Fields the loop adds to every record. */
type ChainFields = 'seq' | 'prev_hash' | 'decided_at';

/** Who asks. */
export interface Asker {
  readonly commandId: string;
  readonly tenant: string;
  readonly principal: string;
  readonly roles: readonly string[];
}

export type ContractCommand =
  | { readonly type: 'RegisterContract'; readonly asker: Asker; readonly name: string; readonly body: string }
  | { readonly type: 'RetireContract'; readonly asker: Asker; readonly name: string; readonly version: number };

export type ContractEvent =
  | { readonly type: 'ContractRegistered'; readonly body: Omit<ContractRegistered, ChainFields> }
  | { readonly type: 'ContractRetired'; readonly body: Omit<ContractRetired, ChainFields> };

export type ContractEventType = ContractEvent['type'];

/** Roles that may change contracts. */
export const EDITOR_ROLES = ['contract_editor', 'administrator'] as const;

/** Tenant of a contract that holds for all. */
export const EVERY_TENANT = '*';

/** Refusals of a command, with their HTTP status. */
export const CONTRACT_REJECTIONS = {
  ROLE_REQUIRED: 403,
  TENANT_MISMATCH: 403,
  CONTRACT_UNKNOWN: 404,
  CONTRACT_OF_ANOTHER_TENANT: 409,
  CONTRACT_RETIRED: 409,
  CONTRACT_VERSION_UNEXPECTED: 409,
  CONTRACT_NAME_MISMATCH: 422,
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

/** What a decision about one capability may look at. */
export interface ContractState {
  /** Every version of the capability, in any order. */
  readonly versions: readonly ContractVersion[];
  /** Has this other capability a standing contract the tenant may use? */
  readonly isKnown: (name: string) => boolean;
}

export type ContractAnswer =
  | { readonly kind: 'recorded'; readonly event: ContractEvent; readonly version: Pick<ContractVersion, 'name' | 'version' | 'digest'> }
  /** The same was said before: nothing to record. */
  | { readonly kind: 'unchanged'; readonly version: Pick<ContractVersion, 'name' | 'version' | 'digest'> }
  | { readonly kind: 'rejected'; readonly rejection: ContractRejection };
