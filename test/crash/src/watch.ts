// Watches the topics from the side, straight at the broker, and says of each run how far it has come.
//
// Boundary: reads and tells; a broker that is down is waited for. Void records are not told apart here: for the moments of
// a kill that does no harm, and the proof reads the logs anew.
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { FetchedRecord, Kafka, RawReader } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import type { StackFacts } from '@recourse/dev-stack';
import { factsOf, pause } from './edge.js';
import type { Facts } from './edge.js';
import type { Point } from './targets.js';

export interface Sighting {
  readonly runId: string;
  readonly point: Point | 'outcome';
  /** State the mutation came to rest in; empty otherwise. */
  readonly state: string;
  /** When the record was sent, epoch milliseconds. */
  readonly at: number;
}

const WATCHED = [
  'recourse.mutations',
  'recourse.recoveries',
  'recourse.rollback-notifications',
  'recourse.tool-requests.payments',
  'recourse.tool-results',
];
const POINT_OF: Readonly<Record<string, Point>> = {
  MutationRecorded: 'execution recorded',
  MutationsFell: 'commit marked',
  RollbackAnnounced: 'rollback announced',
  RecoveryPlanned: 'approval asked',
  StepApproved: 'step approved',
  LegDispatched: 'leg dispatched',
  LegRequested: 'leg requested',
  LegReported: 'leg reported',
  LegSettled: 'verdict recorded',
};
/** A compensation that failed is tried again or becomes a person's: no rest yet. */
export const AT_REST: readonly string[] = ['compensated', 'manual_resolution_required', 'cancelled'];
const PAUSE_MS = 10;
const PAUSE_AFTER_TROUBLE_MS = 150;

export class Watch {
  private readonly kafka: Kafka;
  private readonly codecs: Codecs;
  private readonly positions = new Map<string, number>();
  private readonly stopped = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(
    stack: StackFacts,
    private readonly partitions: number,
    private readonly onSighting: (sighting: Sighting) => void,
  ) {
    this.kafka = createKafka({ brokers: stack.kafka.brokers, clientId: 'crash-watch' });
    this.codecs = createCodecs(createSchemaRegistry({ url: stack.registryUrl }));
  }

  /** Begins at the ends that the topics have now. */
  async start(): Promise<void> {
    const reader = await this.kafka.rawReader();
    for (const { topic, partition } of this.places())
      this.positions.set(`${topic}/${String(partition)}`, (await reader.range(topic, partition)).high);
    this.running = this.follow(reader);
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    await this.running;
  }

  private places(): readonly { readonly topic: string; readonly partition: number }[] {
    return WATCHED.flatMap((topic) =>
      Array.from({ length: this.partitions }, (_, partition) => ({ topic, partition })),
    );
  }

  private async follow(first: RawReader): Promise<void> {
    let reader: RawReader | null = first;
    while (!this.stopped.signal.aborted) {
      try {
        reader ??= await this.kafka.rawReader();
        for (const { topic, partition } of this.places()) await this.advance(reader, topic, partition);
        await pause(PAUSE_MS);
      } catch {
        await reader?.close().catch(() => undefined);
        reader = null;
        await pause(PAUSE_AFTER_TROUBLE_MS);
      }
    }
    await reader?.close().catch(() => undefined);
  }

  private async advance(reader: RawReader, topic: string, partition: number): Promise<void> {
    const place = `${topic}/${String(partition)}`;
    const { records } = await reader.read(topic, partition, this.positions.get(place) ?? 0);
    for (const record of records) {
      await this.see(record);
      this.positions.set(place, record.offset + 1);
    }
  }

  private async see(record: FetchedRecord): Promise<void> {
    let decoded = this.codecs.decodeSync(record.value);
    if (decoded.kind === 'unknown_schema') {
      await this.codecs.load(decoded.id);
      decoded = this.codecs.decodeSync(record.value);
    }
    if (decoded.kind !== 'decoded') return;
    const sighting = sightingOf(decoded.type, factsOf(decoded.body), record.timestamp);
    if (sighting !== null) this.onSighting(sighting);
  }
}

function isLook(type: string, body: Facts): boolean {
  return (
    (type === 'LegRequested' && body['kind'] !== 'compensate') ||
    // Nor is what a worker tells on its way an answer.
    (type === 'LegReported' && (body['complete'] === false || !String(body['leg_id']).startsWith('leg_')))
  );
}

function sightingOf(type: string, body: Facts, at: number): Sighting | null {
  const runId = String(body['run_id'] ?? factsOf(body['execution'])['run_id']);
  const [moved = {}] = (body['members'] ?? []) as readonly Facts[]; // a run of the matrix has one effect
  const state = String(moved['to_state']);
  if (type === 'RecoverabilityChanged') return AT_REST.includes(state) ? { runId, point: 'outcome', state, at } : null;
  // Looks at the facts, before the compensation is sent, are no legs of it.
  if (isLook(type, body)) return null;
  const point = POINT_OF[type];
  return point === undefined ? null : { runId, point, state: '', at };
}
