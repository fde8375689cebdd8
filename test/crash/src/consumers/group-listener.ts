// A member of a plain Kafka group: partitions come and go with rebalances, the place of each is in the group's database.
//
// Invariants
//   I1. A batch is applied in one transaction that holds the row of its partition: a member that was paused while another took
//       over finds the place moved, and keeps nothing of what it has in hand.
//   I2. The acceptance rule is applied from the place in that row, whoever left it there.
import { setTimeout as pause } from 'node:timers/promises';
import { genesisHead, readRecord } from '@recourse/chain';
import type { Verdict } from '@recourse/chain';
import type { FetchedBatch, FetchedRecord, InputConsumer } from '@recourse/kafka';
import { recordOf } from '@recourse/messages';
import { NOTIFICATIONS_TOPIC } from '@recourse/sdk';
import type { SqlClient } from '@recourse/sdk';
import type { Pool } from 'pg';
import type { Word } from './heard.decisions.js';
import { keepWords, openHeard } from './heard-table.js';
import type { GroupPlace } from './heard-table.js';
import { complain, wordsAt } from './listener.js';
import type { Listener } from './listener.js';

/** Words of all members are kept under the group's name. */
export const GROUP = 'group';
/** Shorter than the longer of two pauses: then others take over. */
const SESSION_TIMEOUT_MS = 4_000;
const AGAIN_AFTER_MS = 500;

/** Listens until the process ends. Errors: those of the first joining. */
export async function listenInGroup(listener: Listener): Promise<void> {
  await new Member(listener, openHeard(listener.databaseUrl)).join();
}

class Member {
  private generation = 0;
  private owned: readonly number[] = [];
  private consumer: InputConsumer | null = null;
  private working: Promise<void> = Promise.resolve();

  constructor(
    private readonly listener: Listener,
    private readonly pool: Pool,
  ) {}

  async join(): Promise<void> {
    const consumer = this.listener.kafka.inputConsumer({
      groupId: `crash-${GROUP}`,
      aligned: [NOTIFICATIONS_TOPIC],
      broadcast: [],
      sessionTimeoutMs: SESSION_TIMEOUT_MS,
    });
    this.consumer = consumer;
    await consumer.start({
      onAssigned: ({ partitions }) => {
        const generation = (this.generation += 1);
        this.next(() => this.take(partitions, generation));
      },
      onBatch: (batch) => {
        this.next(() => this.apply(batch));
      },
      onTrouble: (_, cause) => {
        if (cause !== null) complain(cause);
      },
      onCrash: (cause) => {
        complain(cause);
        void this.joinAgain();
      },
    });
  }

  private async joinAgain(): Promise<void> {
    await this.consumer?.stop();
    for (;;) {
      await pause(AGAIN_AFTER_MS);
      try {
        await this.join();
        return;
      } catch (cause) {
        complain(cause);
      }
    }
  }

  /** One thing after the other; what fails is begun again from the places that are kept. */
  private next(work: () => Promise<void>): void {
    this.working = this.working.then(work).catch(async (cause: unknown) => {
      complain(cause);
      await pause(AGAIN_AFTER_MS);
      await this.seekAll().catch(complain);
    });
  }

  private async take(partitions: readonly number[], generation: number): Promise<void> {
    if (generation !== this.generation) return;
    await this.pool.query('INSERT INTO group_joined (member, partitions) VALUES ($1, $2)', [
      this.listener.name,
      partitions.join(),
    ]);
    this.owned = partitions;
    await this.seekAll();
    this.consumer?.resume(partitions.map((partition) => ({ topic: NOTIFICATIONS_TOPIC, partition })));
  }

  private async seekAll(): Promise<void> {
    for (const partition of this.owned)
      this.consumer?.seek(NOTIFICATIONS_TOPIC, partition, (await this.place(this.pool, partition)).offset);
  }

  private async apply({ partition, records }: FetchedBatch): Promise<void> {
    for (const { value } of records) await this.learn(value);
    const client = await this.pool.connect();
    try {
      await client.query('BEGIN');
      const before = await this.place(client, partition);
      const { words, place } = this.judged(partition, records, before);
      await keepWords(client, GROUP, words);
      await client.query('UPDATE group_place SET next_offset = $2, seq = $3, hash = $4 WHERE topic_partition = $1', [
        partition,
        place.offset,
        place.seq,
        place.hash,
      ]);
      await client.query('COMMIT');
      // Others went on meanwhile, or this batch begins behind a gap.
      if (place.offset !== (records.at(-1)?.offset ?? 0) + 1)
        this.consumer?.seek(NOTIFICATIONS_TOPIC, partition, place.offset);
    } catch (cause) {
      await client.query('ROLLBACK').catch(() => undefined);
      throw cause;
    } finally {
      client.release();
    }
  }

  private judged(
    partition: number,
    records: readonly FetchedRecord[],
    from: GroupPlace,
  ): { readonly words: readonly Word[]; readonly place: GroupPlace } {
    const words: Word[] = [];
    let place = from;
    for (const record of records) {
      if (record.offset !== place.offset) continue;
      const verdict: Verdict = readRecord(
        { seq: place.seq, hash: Buffer.from(place.hash, 'hex') },
        record,
        this.listener.codecs.fingerprintOf,
      );
      if (verdict.kind === 'unknown_schema') throw new Error(`schema ${String(verdict.id)} is not known yet`);
      const head =
        verdict.kind === 'accepted' ? { seq: verdict.head.seq, hash: verdict.head.hash.toString('hex') } : place;
      const notice =
        verdict.kind === 'accepted'
          ? recordOf(NOTIFICATIONS_TOPIC, this.listener.codecs.decodeSync(record.value))
          : null;
      if (notice !== null) words.push(...wordsAt(partition, head.seq, notice));
      place = { offset: record.offset + 1, seq: head.seq, hash: head.hash };
    }
    return { words, place };
  }

  /** The place of a partition; its row is locked until the transaction of the asker ends. */
  private async place(sql: SqlClient, partition: number): Promise<GroupPlace> {
    const { logId, partitionCount } = this.listener;
    const genesis = genesisHead({ logId, topic: NOTIFICATIONS_TOPIC, partition, partitionCount });
    await sql.query('INSERT INTO group_place VALUES ($1, 0, 0, $2) ON CONFLICT DO NOTHING', [
      partition,
      genesis.hash.toString('hex'),
    ]);
    const { rows } = await sql.query(
      'SELECT next_offset::text AS next_offset, seq::text AS seq, hash FROM group_place WHERE topic_partition = $1 FOR UPDATE',
      [partition],
    );
    const row = rows[0] as { readonly next_offset: string; readonly seq: string; readonly hash: string }; // written above, or by another member
    return { offset: Number(row.next_offset), seq: Number(row.seq), hash: row.hash };
  }

  private async learn(value: Buffer | null): Promise<void> {
    const decoded = this.listener.codecs.decodeSync(value);
    if (decoded.kind === 'unknown_schema') await this.listener.codecs.load(decoded.id);
  }
}
