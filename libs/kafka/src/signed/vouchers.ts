// What the signatures of records on a wire say.
//
// Invariants
//   V1. A record is judged by itself, wherever it comes and in whatever order: what it shares is a signature that was checked before.
//   V2. Whether a key may still speak is asked anew for each record.
//   V3. However many records come at once, and whatever they carry, everybody else has a turn after some hundreds of them.
import { observersIn, speakerOf } from '@recourse/kernel';
import type { KeyProblem, KnownKey, Speaker } from '@recourse/kernel';
import type { FetchedBatch, FetchedRecord, Voucher } from '../kafka.port.js';
import { SIGNATURE } from './signature.js';
import type { SignatureHeader } from './signature.js';
import type { Judging, Signing } from './signing.js';

const DAY_MS = 86_400_000;
const WINDOW_MS = 7 * DAY_MS;
/** How far another clock may be ahead, milliseconds. */
const AHEAD_MS = 300_000;

/** Adds to each record of a wire what its signature says. */
export async function vouchedBatch<Batch extends FetchedBatch>(batch: Batch, judging: Judging): Promise<Batch> {
  const { topic, records: given } = batch;
  if (judging.signing.ownerOf(topic) !== null) return batch;
  const records: FetchedRecord[] = [];
  while (records.length < given.length) {
    const room = await judging.turns.room(given.length - records.length);
    const some = given.slice(records.length, records.length + room);
    for (const record of vouchedRecords(topic, some, judging)) records.push(record);
  }
  return { ...batch, records };
}

/** The same at once; null where this turn has no room for them. */
export function vouchedAtOnce(batch: FetchedBatch, judging: Judging): FetchedBatch | null {
  const { topic, records } = batch;
  return judging.turns.takes(records.length) ? { ...batch, records: vouchedRecords(topic, records, judging) } : null;
}

function vouchedRecords(topic: string, records: readonly FetchedRecord[], judging: Judging): readonly FetchedRecord[] {
  return records.map((record) => ({ ...record, voucher: voucherOf(topic, record, judging) }));
}

/** What the signature of a record on a wire says. */
function voucherOf(topic: string, record: FetchedRecord, judging: Judging): Voucher {
  const { signing, proven, alone, headers, texts } = judging;
  const header = headers.read(record.headers[SIGNATURE]);
  if (header === null) return { kind: 'refused', reason: 'SIGNATURE_MISSING', keyId: null };
  const refused = (reason: KeyProblem): Voucher => ({ kind: 'refused', reason, keyId: header.keyId });
  if (isStale(header, signing)) return refused('SIGNATURE_STALE');
  const { keyId, signedAt, signature } = header;
  const text = texts.textOf(topic, header, record);
  if (text === null) return refused('SIGNATURE_INVALID');
  const said = { keyId, text, signature, signedAt };
  // Who signs alone is met once, or over and over where somebody floods; many share what is remembered.
  const { proves } = header.place === null ? alone : proven;
  const speaker = speakerOf(signing.keyring(), said, signing.clock.now(), proves);
  if (typeof speaker === 'string') return refused(speaker);
  return vouchedFor(speaker, judging);
}

/** What a key says of its speaker, with who observes a worker at this instant; of all others the same as before. */
function vouchedFor(key: KnownKey, judging: Judging): Voucher {
  if (judging.last?.key === key) return judging.last.voucher;
  const { keyId, roles, names, tenants } = key;
  const isWorker = roles.includes('worker');
  const { keyring, clock, signer } = judging.signing;
  const heardFor = signer === null ? undefined : keyring().get(signer.keyId)?.tenants;
  const observers = isWorker ? observersIn(keyring(), keyId, clock.now()) : [];
  const speaker: Speaker = { keyId, roles, names, tenants, ...(observers.length === 0 ? {} : { observers }) };
  const isLimited = heardFor !== undefined && !heardFor.includes('*');
  const voucher: Voucher = { kind: 'vouched', speaker, ...(isLimited ? { heardFor } : {}) };
  if (!isWorker) judging.last = { key, voucher };
  return voucher;
}

function isStale({ signedAt }: SignatureHeader, { clock, windowMs = WINDOW_MS }: Signing): boolean {
  const age = clock.now() - signedAt;
  return age > windowMs || age < -AHEAD_MS;
}
