// Who may ask a worker to act, where wires are signed. Pure.
import { speaksUnder } from '@recourse/kernel';
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
