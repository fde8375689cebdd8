// Who reads, as edge and decider would judge a command of theirs, and what is offered to them, parted by that.
//
// Boundary: holds no rule. What is said to be refused the command would be refused with.
import { contractView, editorsOf, entryView, ownersEver } from '@recourse/contract';
import type { Asking } from '@recourse/kernel';
import { accessRefusal } from '../../edge/access.js';
import type { ServiceContext } from '../../service-context.js';
import type { Caller } from './caller.js';

export interface Reader extends Asking {
  readonly roles: readonly string[];
  /** Why the edge lets them in at no such route, `POST /v1/steps/:id/approve`; null where it does. */
  readonly refusedAt: (route: string) => { readonly code: string; readonly message: string } | null;
  readonly ownersOf: (tenant: string, agent: string) => readonly string[];
  readonly editorsOf: (tenant: string, digest: Buffer) => readonly string[];
}

/** A word that others may say and this reader may not. */
export interface Withheld {
  readonly word: string;
  readonly code: string;
  readonly message: string;
}

/** What a reader may do about a thing, and what they may not, each with what it would be refused with. */
export interface Offers {
  readonly may: readonly string[];
  readonly may_not: readonly Withheld[];
}

/** Judged by contracts and charters as they stand; by none before the service has read any. */
export async function readerOf(
  service: Pick<ServiceContext, 'access' | 'view'>,
  { principal }: Pick<Caller, 'principal'>,
): Promise<Reader> {
  const contracts = (await service.view?.(contractView.name)) ?? null;
  const entries = (await service.view?.(entryView.name)) ?? null;
  return {
    principal: principal.subject,
    accounts: principal.accounts ?? [],
    roles: principal.roles,
    refusedAt: (route) => {
      const refusal = accessRefusal(service.access(route), principal);
      return refusal === null ? null : { code: refusal.code, message: refusal.message };
    },
    ownersOf: (tenant, agent) => (entries === null ? [] : ownersEver(entries, tenant, agent)),
    editorsOf: (tenant, digest) => (contracts === null ? [] : editorsOf(contracts, tenant, digest)),
  };
}

/** Parts what is offered by what would refuse it. */
export function offersOf(
  offered: readonly { readonly word: string; readonly refusal: Omit<Withheld, 'word'> | null }[],
): Offers {
  return {
    may: offered.flatMap(({ word, refusal }) => (refusal === null ? [word] : [])),
    may_not: offered.flatMap(({ word, refusal }) =>
      refusal === null ? [] : [{ word, code: refusal.code, message: refusal.message }],
    ),
  };
}
