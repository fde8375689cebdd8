// Alters what a broker has stored, as a disk does that forgets.
//
// Boundary: for proofs only, and for a broker on this machine.
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Kafka as KafkaJs, logLevel } from 'kafkajs';
import type { ConfigResourceTypes } from 'kafkajs';

/** What is altered of the batch in which a word stands: the word, or the length in its head. */
export interface Alteration {
  readonly brokers: readonly string[];
  readonly topic: string;
  readonly partition: number;
  readonly word: string;
  readonly what: 'word' | 'length';
}

// An ES module cannot name kafkajs' enum at run time; 4 is its BROKER.
const BROKER_RESOURCE = 4 as ConfigResourceTypes;
const SEGMENT = '00000000000000000000.log';
/** Of the length in the head of a batch, and of the head before what the length counts. */
const [LENGTH_AT, FRAME_BYTES] = [8, 12];

/** Flips one bit in the first segment of a partition. Errors: Error when the word is not stored there. */
export async function alterStored({ brokers, topic, partition, word, what }: Alteration): Promise<void> {
  const file = join(await folderOf(brokers), `${topic}-${String(partition)}`, SEGMENT);
  const bytes = readFileSync(file);
  const at = bytes.indexOf(word);
  if (at < 0) throw new Error(`${word} is not stored in ${file}`);
  const place = what === 'word' ? at : headBefore(bytes, at) + LENGTH_AT + 3;
  const disk = openSync(file, 'r+');
  writeSync(disk, Buffer.from([(bytes[place] ?? 0) ^ 1]), 0, 1, place);
  closeSync(disk);
}

async function folderOf(brokers: readonly string[]): Promise<string> {
  const admin = new KafkaJs({ brokers: [...brokers], clientId: 'disk', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: BROKER_RESOURCE, name: '1', configNames: ['log.dirs'] }],
  });
  await admin.disconnect();
  return resources[0]?.configEntries[0]?.configValue ?? '';
}

/** Where the batch begins in which a place lies. */
function headBefore(bytes: Buffer, place: number): number {
  for (let at = 0; ;) {
    const next = at + FRAME_BYTES + bytes.readInt32BE(at + LENGTH_AT);
    if (next > place) return at;
    at = next;
  }
}
