// Reads logs raw from offset 0 and goes on from where it stopped: accepted records, decoded.
import { genesisHead, readRecord } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { FetchedRecord, RawReader } from '@recourse/kafka';
import { createCodecs, recordOf } from '@recourse/messages';
import type { Codecs, TopicName, TopicRecords } from '@recourse/messages';
import type { StackFacts } from '@recourse/dev-stack';

/** An accepted record and where it stands. */
export type Accepted<T extends TopicName> = TopicRecords[T] & { readonly partition: number; readonly seq: number };

/** Follows one log. */
export class LogReader<T extends TopicName> {
  voids = 0;
  private readonly codecs: Codecs;
  private readonly places = new Map<number, { head: Head; offset: number }>();
  private reader: RawReader | null = null;

  constructor(
    private readonly stack: StackFacts,
    private readonly logId: string,
    private readonly topic: T,
    private readonly partitionCount: number,
  ) {
    this.codecs = createCodecs(createSchemaRegistry({ url: stack.registryUrl }));
  }

  /** Hands over what came since the last time, per partition in order. Errors: those of broker and registry. */
  async news(see: (record: Accepted<T>) => void): Promise<void> {
    this.reader ??= await createKafka({ brokers: this.stack.kafka.brokers, clientId: 'crash-reader' }).rawReader();
    for (let partition = 0; partition < this.partitionCount; partition += 1)
      await this.newsOf(this.reader, partition, see);
  }

  async close(): Promise<void> {
    await this.reader?.close();
    this.reader = null;
  }

  private async newsOf(reader: RawReader, partition: number, see: (record: Accepted<T>) => void): Promise<void> {
    const { logId, topic, partitionCount } = this;
    const place = this.places.get(partition) ?? {
      head: genesisHead({ logId, topic, partition, partitionCount }),
      offset: 0,
    };
    this.places.set(partition, place);
    for (;;) {
      const { records } = await reader.read(topic, partition, place.offset);
      if (records.length === 0) return;
      for (const record of records) {
        const accepted = await this.judged(record, place);
        place.offset = record.offset + 1;
        if (accepted === null) this.voids += 1;
        else place.head = accepted;
        const told = accepted === null ? null : recordOf(topic, this.codecs.decodeSync(record.value));
        if (told !== null) see({ ...told, partition, seq: place.head.seq });
      }
    }
  }

  private async judged(record: FetchedRecord, { head }: { readonly head: Head }): Promise<Head | null> {
    for (let tries = 0; tries < 2; tries += 1) {
      const decoded = this.codecs.decodeSync(record.value);
      if (decoded.kind === 'unknown_schema') await this.codecs.load(decoded.id);
      const verdict = readRecord(head, record, this.codecs.fingerprintOf);
      if (verdict.kind === 'accepted') return verdict.head;
      if (verdict.kind === 'void') return null;
      await this.codecs.load(verdict.id);
    }
    throw new Error(`a record of ${this.topic} has a schema that nobody knows`);
  }
}
