// The decisions of a story, with what they were made from: gathered for a packet, and made again from one.
import { schemaIdOf } from '@recourse/chain';
import type { PackedDecisions, PackedPin } from '@recourse/contract';
import type { Accepted } from '../audit/accepted.js';
import { checkInProcess, pinInProcess, PINNED_LOGS, serviceOf } from './decisions.process.js';
import type { Checked, ClusterAsked, KeysAsked, Other, PinnedLog, Place } from './decisions.process.js';
import { placeName } from './place-name.js';
import type { Gathered, StoryPacket } from './story.packet.js';

/** Where everything is that decisions were made from. A log is read with its inputs as the service that owns it, where nobody else is named. */
interface Reached extends Omit<ClusterAsked, 'kafka_user'>, KeysAsked {
  readonly kafkaAs: (user: string) => ClusterAsked['kafka_user'];
}

/** Pins the decisions of a story. Errors: those of pinInProcess. */
export async function gatherDecisions(
  told: readonly Accepted[],
  all: readonly Accepted[],
  { settings, cluster }: { readonly settings: Readonly<Record<string, string>>; readonly cluster: Reached },
): Promise<Gathered> {
  const decisions: PackedDecisions = { settings: {}, partitions: {}, pins: [], unpinned: [] };
  const { kafkaAs, ...asked } = cluster;
  const pinnedOf = async (log: string): Promise<PinnedLog | null> => {
    const ofLog = Map.groupBy(
      told.filter((record) => record.log === log),
      ({ partition }) => partition,
    );
    if (ofLog.size === 0) return null;
    const wanted = [...ofLog].map(([partition, records]) => ({ partition, seqs: records.map(({ seq }) => seq) }));
    return pinInProcess(log, wanted, settings, { ...asked, kafka_user: kafkaAs(serviceOf(log)) });
  };
  for (const [log, pinned] of await sideBySide(pinnedOf)) {
    if (pinned === null) continue;
    decisions.settings[log] = { ...pinned.settings };
    Object.assign(decisions.partitions, pinned.viewPartitions, { [log]: pinned.partitions });
    decisions.pins.push(...pinned.pins);
    decisions.unpinned.push(...pinned.unpinned);
  }
  const has = new Set(told.map(placeName));
  const named = new Set(decisions.pins.flatMap(placesIn).map(placeName));
  return {
    decisions,
    records: all.filter((record) => named.has(placeName(record)) && !has.has(placeName(record))),
    schemaIds: decisions.pins.flatMap(({ input }) =>
      input.source === 'wire' ? (schemaIdOf(Buffer.from(input.value, 'base64')) ?? []) : [],
    ),
  };
}

/** Every record of a log that a decision names. */
function placesIn({ records, progress, input, entries }: PackedPin): readonly Omit<Place, 'hash'>[] {
  return [
    ...records,
    progress,
    ...(input.source === 'log' ? [input] : []),
    ...entries.flatMap((entry) => entry.records),
  ];
}

/** The decisions of a packet, made again by the services whose they are; none where it pins none. Errors: those of checkInProcess. */
export async function remakeDecisions(
  packet: StoryPacket,
  other: Other | null,
  keys: KeysAsked,
): Promise<readonly Checked[]> {
  const { decisions, schemas, records } = packet;
  if (decisions === null) return [];
  const checkedOf = async (log: string): Promise<readonly Checked[]> => {
    const pins = decisions.pins.filter((pin) => pin.log === log);
    if (pins.length === 0) return [];
    return checkInProcess({
      log,
      settings: decisions.settings[log] ?? {},
      partitions: decisions.partitions[log] ?? 1,
      view_partitions: decisions.partitions,
      ...keys,
      schemas,
      records: records.map(({ proof: _proof, offset: _offset, key, value, ...place }) => ({
        ...place,
        key: key.toString('base64'),
        value: value.toString('base64'),
      })),
      pins,
      other,
    });
  };
  return (await sideBySide(checkedOf)).flatMap(([, checked]) => checked);
}

/** Asks for each log in a process of its own, all at once; answers in the order of the logs. Errors: the first of them, once all have ended. */
async function sideBySide<T>(ask: (log: string) => Promise<T>): Promise<readonly (readonly [string, T])[]> {
  const ended = await Promise.allSettled(PINNED_LOGS.map(ask));
  return PINNED_LOGS.map((log, index) => {
    const one = ended[index];
    if (one?.status === 'fulfilled') return [log, one.value];
    throw one?.reason;
  });
}
