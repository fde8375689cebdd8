// How a process signs and judges signatures: what it is given, and what it remembers.
import { ProvenSignatures } from '@recourse/kernel';
import type { Clock, Failure, Keyring, KnownKey, Signer } from '@recourse/kernel';
import type { Voucher } from '../kafka.port.js';
import type { StampedOffset } from '../stamped-offset.js';
import { HeaderReader, WireTexts } from './signature.js';
import { Turns } from './turns.js';

/** How a process signs, and whom it believes. */
export interface Signing {
  /** Null for who only reads. */
  readonly signer: Signer | null;
  readonly keyring: () => Keyring;
  /** Service that alone writes a log; null for a wire. */
  readonly ownerOf: (topic: string) => string | null;
  readonly clock: Pick<Clock, 'now'>;
  /** Longest time from signing to hearing, milliseconds: as long as wires keep records. Default 7 days. */
  readonly windowMs?: number;
  /** Records in a log that its owner did not sign were met, at each reading of them: somebody else can write to it. */
  readonly onUnvouched?: (topic: string, partition: number, records: readonly StampedOffset[]) => void;
  /**
   * What is wrong with the keys of this process now, before anything is signed: Failure(KEY_NOT_BELIEVED) where nothing would be
   * signed, Failure(KEYRING_INVALID) where the keyring's file cannot be read and one of before stands; null where nothing is.
   */
  readonly trouble?: () => Failure | null;
}

/** Whom a process believes, and what it has checked lately. */
export interface Judging {
  readonly signing: Signing;
  readonly proven: ProvenSignatures;
  /** The same of records that were signed alone: the last of each key. */
  readonly alone: ProvenSignatures;
  readonly turns: Turns;
  readonly headers: HeaderReader;
  readonly texts: WireTexts;
  /** What was last said of a key that nobody observes; a key that changes is another object. */
  last: { readonly key: KnownKey; readonly voucher: Voucher } | null;
}

/** Begins to judge, with nothing checked. */
export function judgingOf(signing: Signing): Judging {
  const [proven, alone] = [new ProvenSignatures(), new ProvenSignatures(1)];
  return {
    signing,
    proven,
    alone,
    turns: new Turns(),
    headers: new HeaderReader(),
    texts: new WireTexts(),
    last: null,
  };
}
