// Who may ask a worker to act, where wires are signed, and whether the worker would be believed. Pure.
import { Failure, speaksUnder } from '@recourse/kernel';
import type { Speaker } from '@recourse/kernel';
import type { FetchedRecord } from '@recourse/kafka';

/** Services that may ask a worker to act. */
const ASKERS = ['recovery-orchestrator', 'mutation-ledger'] as const;

/** Why nothing is done on a request; null when it may be. Where wires are signed only those who may ask are heard. */
export function refusalOf({ voucher }: FetchedRecord): string | null {
  if (voucher === undefined) return null;
  if (voucher.kind === 'refused') return voucher.reason;
  const { speaker } = voucher;
  return speaker.roles.includes('service') && ASKERS.some((name) => speaksUnder(speaker, name))
    ? null
    : 'SPEAKER_MISMATCH';
}

/** Why nothing is done for a tenant; null where it may be: a key that speaks for some tenants acts for those alone, whoever asks. */
export function tenantRefusal({ voucher }: FetchedRecord, tenant: string): string | null {
  if (voucher?.kind !== 'vouched' || voucher.heardFor === undefined) return null;
  return voucher.heardFor.includes(tenant) ? null : 'TENANT_FOREIGN';
}

/** Errors: Failure(KEY_NOT_BELIEVED) where what a worker did for its adapter would be believed of nobody; undefined where nothing is signed. */
export function refuseUnheard(
  speaker: Speaker | undefined,
  { adapter, isObserver = false }: { readonly adapter: string; readonly isObserver?: boolean },
): void {
  if (speaker === undefined) return;
  const role = isObserver ? 'observer' : 'worker';
  if (!speaker.roles.includes(role) || !speaksUnder(speaker, adapter))
    throw new Failure(
      'KEY_NOT_BELIEVED',
      `the key ${speaker.keyId} does not speak as ${role} of ${adapter}: nothing is done with it`,
    );
}
