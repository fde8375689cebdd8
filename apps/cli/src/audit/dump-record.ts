// One record of a dump, found by its place in the accepted chain.
//
// Boundary: reads files; needs no network. That the dump is what was written shows `audit verify --dump`, not this.
import { ChainReader, genesisHead } from '@recourse/chain';
import { loadedCodecs } from './dump-file.js';
import { logsIn } from './dump-logs.js';
import { refusing, signedRecordsIn } from './dump-signed.js';
import type { ReadDump } from './dump-signed.js';

export interface Place {
  readonly log: string;
  readonly partition: number;
  /** Position in the accepted chain, from 1. */
  readonly seq: number;
}

export interface RecordFound {
  /** 64 hex digits. */
  readonly hash: string;
  readonly type: string;
  readonly body: object;
}

/** An accepted record, decoded only where somebody looks into it. */
interface RecordHeld {
  readonly seq: number;
  /** Null where it holds nothing readable. */
  readonly read: () => RecordFound | null;
}

/** The record at a place; null where the dump does not hold it, or holds nothing readable there. Errors: CliProblem(DUMP_UNREADABLE). */
export async function recordInDump(dump: ReadDump, { seq, ...place }: Place): Promise<RecordFound | null> {
  for await (const record of recordsOfLog(dump, place)) if (record.seq === seq) return record.read();
  return null;
}

/** The accepted records of one log of a dump, in their order; none where the dump does not hold it. Errors: CliProblem(DUMP_UNREADABLE). */
export async function* recordsOfLog(
  { folder, signing }: ReadDump,
  { log, partition }: Pick<Place, 'log' | 'partition'>,
): AsyncGenerator<RecordHeld> {
  for (const { path, of } of logsIn(folder)) {
    if (of.topic !== log || of.partition !== partition) continue;
    const codecs = await loadedCodecs(path);
    const reader = new ChainReader(genesisHead(of), codecs.fingerprintOf);
    for (const record of signedRecordsIn(path, of, { signing, ...refusing(of) })) {
      const verdict = reader.read(record);
      if (verdict.kind !== 'accepted') continue;
      const { seq, hash } = verdict.head;
      const read = (): RecordFound | null => {
        const decoded = codecs.decodeSync(record.value);
        return decoded.kind === 'decoded'
          ? { hash: hash.toString('hex'), type: decoded.type, body: decoded.body as object } // fields, by its schema
          : null;
      };
      yield { seq, read };
    }
  }
}
