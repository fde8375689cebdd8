// Verifies one partition as its records come, in memory that does not grow with them.
import { FRAME_SIZE, genesisHead, leafHash, LogVerifier, schemaIdOf } from '@recourse/chain';
import type { Finding, GenesisOf, KnownHead, LeafStore, StoredRecord, VerifiedStart } from '@recourse/chain';
import { lossReader } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { Cursors } from './cursors.js';
import type { VerifiedLog } from './contradictions.js';
import { named } from './findings.js';
import type { PartitionReport } from './report.js';

export interface PartitionAuditOptions {
  readonly codecs: Pick<Codecs, 'fingerprintOf' | 'decodeSync'>;
  readonly known: readonly KnownHead[];
  /** A trusted head behind which it begins; null for the start of the log. */
  readonly from: AuditStart | null;
  /** Where leaf hashes are kept; in memory unless told. What was closed opens again where it is asked. */
  readonly leaves?: (LeafStore & { readonly close: () => void }) | undefined;
}

/** A trusted head, and the offset behind it. */
export interface AuditStart extends VerifiedStart {
  readonly nextOffset: number;
}

export class PartitionAudit implements VerifiedLog {
  /** What its records say of other logs. */
  readonly cursors: Cursors;
  readonly #verifier: LogVerifier;
  readonly #from: AuditStart | null;
  #nextOffset: number;
  #records = 0;
  /** Offset behind the record before, and offsets that held none. */
  #readTo: number;
  #skipped = 0;
  #anchor: 'none' | 'wanted' | 'there' | 'another';

  constructor(
    readonly of: GenesisOf,
    private readonly options: PartitionAuditOptions,
  ) {
    const { codecs, known, from, leaves } = options;
    this.#from = from;
    this.#anchor = from === null || from.seq === 0 ? 'none' : 'wanted';
    this.#nextOffset = from?.nextOffset ?? 0;
    this.#readTo = this.startOffset;
    this.cursors = new Cursors(of, codecs);
    this.#verifier = new LogVerifier({
      genesis: genesisHead(of),
      fingerprintOf: codecs.fingerprintOf,
      lossIn: lossReader(codecs),
      known,
      ...(leaves && { leaves }),
      ...(from === null ? {} : { from }),
    });
  }

  /** Offset the first record is wanted from: the trusted head's own, so that it is seen to be there. */
  get startOffset(): number {
    return Math.max(0, this.#nextOffset - (this.#from === null ? 0 : 1));
  }

  add(record: StoredRecord): void {
    this.#skipped += Math.max(0, record.offset - this.#readTo);
    this.#readTo = record.offset + 1;
    if (this.#anchor === 'wanted') {
      this.#anchor = this.#isTrusted(record) ? 'there' : 'another';
      if (record.offset < this.#nextOffset) return;
    }
    this.#records += 1;
    const before = this.#verifier.head.seq;
    this.#verifier.add(record);
    if (this.#verifier.head.seq === before) return;
    this.#nextOffset = record.offset + 1;
    this.cursors.take(record);
  }

  get reached(): number {
    return this.#verifier.report().reached;
  }

  hashAt(seq: number): Buffer | null {
    return this.#verifier.hashAt(seq);
  }

  close(): void {
    this.options.leaves?.close();
  }

  report(): PartitionReport {
    const { topic, partition } = this.of;
    const { head, accepted, voids, root, peaks, findings, unlisted } = this.#verifier.report();
    return {
      topic,
      partition,
      from_seq: this.#from?.seq ?? 0,
      records: this.#records,
      accepted,
      void: voids,
      skipped: this.#skipped,
      head_seq: head.seq,
      head_hash: head.hash.toString('hex'),
      next_offset: this.#nextOffset,
      root: root?.toString('hex') ?? '',
      peaks: peaks?.map((peak) => peak.toString('hex')) ?? null,
      unlisted,
      findings: [
        ...this.#anchorFindings(),
        ...findings,
        ...(unlisted > 0 ? [{ kind: 'unlisted', count: unlisted } as const] : []),
      ].map(named),
    };
  }

  /** What says that the trusted head is no longer in the log. */
  #anchorFindings(): readonly Finding[] {
    const seq = this.#from?.seq ?? 0;
    if (this.#anchor === 'wanted') return [{ kind: 'cut_tail', seq, lastSeq: seq }];
    return this.#anchor === 'another' ? [{ kind: 'rewritten', seq, offset: this.startOffset }] : [];
  }

  #isTrusted({ key, value, offset }: StoredRecord): boolean {
    const id = schemaIdOf(value);
    const fingerprint = id === null ? null : this.options.codecs.fingerprintOf(id);
    if (offset !== this.startOffset || key === null || value === null || fingerprint === null) return false;
    return this.#from?.hash.equals(leafHash(fingerprint, key, value.subarray(FRAME_SIZE))) === true;
  }
}
