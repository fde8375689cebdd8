// One partition of a log at the brokers while it is verified: read to the end seen when its turn comes, and on where others have read more.
//
// Boundary: reads; what the records say is the verifier's business.
import type { GenesisOf } from '@recourse/chain';
import { batchSize, storedSieve } from '@recourse/kafka';
import type { FetchedRecord, RawReader, Signing } from '@recourse/kafka';
import type { PartitionWriter } from './dump-writer.js';
import type { PartitionAudit } from './partition-audit.js';
import { withFindings } from './report.js';
import type { PartitionReport } from './report.js';

export interface PartitionReadingOptions {
  readonly reader: Pick<RawReader, 'range'>;
  readonly audit: PartitionAudit;
  /** Records from an offset to the end seen at the call, page by page. */
  readonly pages: (from: number) => AsyncIterable<readonly FetchedRecord[]>;
  /** Told of each page before it is verified. */
  readonly onPage: (records: readonly FetchedRecord[]) => Promise<void>;
  /** Whose keys tell what counts, where the records come as they lie. */
  readonly signing: Signing | null;
  readonly writer: PartitionWriter | null;
}

export class PartitionReading {
  readonly #judged: Judging;
  /** Offset behind what was read. */
  #next: number;
  /** Behind it lies what came after others were read. */
  #end: number | null = null;
  /** Offset behind the signed batch that was read last. */
  #batchEnd = 0;

  constructor(private readonly options: PartitionReadingOptions) {
    const { audit, signing } = options;
    this.#judged = judging(audit.of, signing);
    this.#next = audit.startOffset;
  }

  get audit(): PartitionAudit {
    return this.options.audit;
  }

  async readToEnd(): Promise<void> {
    for await (const page of this.options.pages(this.#next)) await this.#take(page);
    this.audit.close();
  }

  /**
   * Reads on to an offset, and to the end of the batch that lies there: what its owner signed together counts together. Behind it nothing
   * is read: all that these records speak of was there before whoever named the offset, so that logs at work are read to an end.
   *
   * Shape: false where nothing more was there.
   */
  async readOnTo(offset: number): Promise<boolean> {
    const { reader, audit, pages } = this.options;
    this.#end ??= (await reader.range(audit.of.topic, audit.of.partition)).high;
    const [from, to] = [this.#next, Math.min(offset, this.#end)];
    if (from >= to) return false;
    for await (const page of pages(from)) {
      const wanted = page.slice(0, this.#wantedOf(page, to));
      await this.#take(wanted);
      if (wanted.length < page.length || this.#next >= Math.max(to, this.#batchEnd)) break;
    }
    audit.close();
    return this.#next > from;
  }

  /** What was read, as its end shows it. */
  async end(): Promise<PartitionReport> {
    const { reader, audit } = this.options;
    for (const record of this.#judged.end()) audit.add(record);
    const { low } = await reader.range(audit.of.topic, audit.of.partition);
    return withFindings(audit.report(), low > 0 ? [{ kind: 'cut_front', offset: low }] : []);
  }

  close(report: PartitionReport): void {
    this.options.writer?.close(report);
    this.audit.close();
  }

  async #take(records: readonly FetchedRecord[]): Promise<void> {
    const { audit, writer, onPage } = this.options;
    const last = records.at(-1);
    if (last === undefined) return;
    await onPage(records);
    for (const record of this.#judged.next(records)) audit.add(record);
    await writer?.write(records);
    this.#next = last.offset + 1;
  }

  /** How many records of a page lie before an offset, or in a batch that began before it. */
  #wantedOf(page: readonly FetchedRecord[], to: number): number {
    for (const [at, record] of page.entries()) {
      if (record.offset >= Math.max(to, this.#batchEnd)) return at;
      this.#batchEnd = Math.max(this.#batchEnd, record.offset + batchSize(record));
    }
    return page.length;
  }
}

interface Judging {
  readonly next: (records: readonly FetchedRecord[]) => Iterable<FetchedRecord>;
  readonly end: () => Iterable<FetchedRecord>;
}

/** Records that lie in a partition as its owner signed them; as they are without keys. */
function judging(of: GenesisOf, signing: Signing | null): Judging {
  const sieve = signing === null ? null : storedSieve(of, signing);
  return sieve === null
    ? { next: (records) => records, end: () => [] }
    : { next: (records) => records.flatMap((record) => sieve.push(record)), end: () => sieve.end() };
}
