// Whether what could not be told has certainly not left. Pure.
import { Failure } from '@recourse/kernel';

/** Why a producer sends nothing at all; of any other failure a broker may have taken the record, and its answer be what was lost. */
const UNSENT: readonly string[] = [
  'TENANT_INVALID',
  'PRINCIPAL_INVALID',
  'INSTANT_INVALID',
  'RECORD_UNFIT',
  'RECORD_TOO_LARGE',
  'KEY_NOT_BELIEVED',
];

/** Says whether a record that was not acknowledged has certainly not left. */
export function isUnsent(cause: unknown): boolean {
  return cause instanceof Failure && UNSENT.includes(cause.code);
}
