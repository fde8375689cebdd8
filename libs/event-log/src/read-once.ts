// What several loops and views of a process read alike: a record of a broadcast input is hashed and decoded once.
//
// Boundary: remembers of the record itself, and of the newest alone: a loop that is far behind reads anew.
import type { FetchedRecord } from '@recourse/kafka';
import { recordHash } from '@recourse/chain';
import type { Codecs, Decoded } from '@recourse/messages';
import { keptAt } from './sealing/kept-at.js';

type Reader = Pick<Codecs, 'decodeSync'>;

interface Seen {
  fingerprint: Buffer | null;
  hash: Buffer | null;
  reader: Reader | null;
  decoded: Decoded | null;
}

/** Records whose documents are remembered at the most, and their octets: a document takes several times as much. */
const RECORDS_MAX = 1_024;
const OCTETS_MAX = 2 * 1_024 * 1_024;

const seen = keptAt<FetchedRecord, Seen>();
let recent: Seen[] = [];
let older: Seen[] = [];
let octets = 0;

function seenOf(record: FetchedRecord): Seen {
  const known = seen.get(record);
  if (known !== undefined) return known;
  const made: Seen = { fingerprint: null, hash: null, reader: null, decoded: null };
  seen.set(record, made);
  return made;
}

/** Hash of a record that others of the process hash too. */
export function hashOnce(fingerprint: Buffer, key: Buffer, value: Buffer, record: FetchedRecord): Buffer {
  const known = seenOf(record);
  if (known.fingerprint !== fingerprint || known.hash === null) {
    known.fingerprint = fingerprint;
    known.hash = recordHash(fingerprint, key, value);
  }
  return known.hash;
}

/** What a record that others of the process read too says. Nobody changes what was decoded. */
export function decodedOnce(reader: Reader, record: FetchedRecord): Decoded {
  const known = seenOf(record);
  if (known.reader === reader && known.decoded !== null) return known.decoded;
  const decoded = reader.decodeSync(record.value);
  known.reader = reader;
  known.decoded = decoded;
  octets += record.value?.length ?? 0;
  if (recent.push(known) >= RECORDS_MAX || octets >= OCTETS_MAX) {
    for (const one of older) one.decoded = null;
    [older, recent, octets] = [recent, [], 0];
  }
  return decoded;
}

interface Mode {
  readonly mode: string;
}

/** How a record of an input is hashed: once in a process where others read it too. */
export function hashIn({ mode }: Mode): typeof hashOnce {
  return mode === 'broadcast' ? hashOnce : recordHash;
}

/** What a record of an input says, likewise. */
export function decodedIn({ mode }: Mode, reader: Reader, record: FetchedRecord): Decoded {
  return mode === 'broadcast' ? decodedOnce(reader, record) : reader.decodeSync(record.value);
}
