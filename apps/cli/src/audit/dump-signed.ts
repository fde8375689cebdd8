// Records of a dump as the owners of its logs signed them: a dump holds all that lies in a log, whoever wrote it.
import type { GenesisOf, StoredRecord } from '@recourse/chain';
import { SIGNATURE, siftStored } from '@recourse/kafka';
import type { FetchedRecord, Signing } from '@recourse/kafka';
import { CliProblem } from '../problem.js';
import { recordsIn } from './dump-file.js';
import type { DumpedRecord } from './dump-file.js';

/** A dump, and by whose keys it is read. */
export interface ReadDump {
  readonly folder: string;
  /** Null: signatures are not looked at. */
  readonly signing: Signing | null;
}

/** Records of a file as their owner signed them; where its log has an owner and none of them is signed that is told, and they come as they lie. */
export function signedRecordsIn(
  path: string,
  of: GenesisOf,
  on: {
    readonly signing: Signing | null;
    readonly onDamage: (line: number) => void;
    /** Whoever stripped a log of every signature may have written it anew: a reader that goes on says so. */
    readonly onUnsigned: () => void;
  },
): Iterable<StoredRecord> {
  const records = recordsIn(path, on.onDamage);
  if (on.signing === null) return records;
  if (on.signing.ownerOf(of.topic) === null || !holdsUnsignedOnly(path))
    return siftStored(of, fetched(records), on.signing);
  on.onUnsigned();
  return records;
}

/** For whoever reads a dump and is no judge of it. Errors: CliProblem(DUMP_UNREADABLE). */
export function refusing({ topic, partition }: GenesisOf): {
  readonly onDamage: (line: number) => never;
  readonly onUnsigned: () => never;
} {
  const name = `${topic}/${String(partition)}`;
  const refuse = (what: string, remedy: string): never => {
    throw new CliProblem('DUMP_UNREADABLE', what, 'found', { remedy });
  };
  return {
    onDamage: (line) =>
      refuse(
        `${name}: line ${String(line)} of its file is damaged, or out of order`,
        'See what is wrong with it: `recourse audit verify --dump`.',
      ),
    onUnsigned: () =>
      refuse(
        `the signatures of the owner of ${name} are missing from the dump`,
        'Dump the log anew, or see who took them out: `recourse audit verify --dump`.',
      ),
  };
}

/** Holds records, and no signature of any: a dump of a log that nobody signs, or one that lost its signatures. */
function holdsUnsignedOnly(path: string): boolean {
  let count = 0;
  for (const { signature } of recordsIn(path, () => undefined)) {
    if (signature !== undefined) return false;
    count += 1;
  }
  return count > 0;
}

/** As a broker would give them. */
function* fetched(records: Iterable<DumpedRecord>): Generator<FetchedRecord> {
  for (const { offset, key, value, signature } of records) {
    const headers = signature === undefined ? {} : { [SIGNATURE]: Buffer.from(signature, 'utf8') };
    yield { offset, key, value, timestamp: 0, headers };
  }
}
