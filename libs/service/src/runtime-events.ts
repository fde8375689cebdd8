// What the loop says of itself, as metrics and log lines. Nothing depends on it.
import type { LoopEvent, LoopHealth, PeerEvent, ServiceCore } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import type { Logger, Metrics } from '@recourse/telemetry';
import type { FirstMet } from './first-met.js';

export type PlacedEvent = LoopEvent & { readonly log: string; readonly partition: number };

/** What whoever runs the producer reads. */
const MISPLACED =
  'sent a record to the partition of its key: its producer needs the partitioner of Java (murmur2), in librdkafka partitioner=murmur2_random, in kafka-go kafka.Murmur2Balancer';

const REFUSED = 'dropped records of a wire that speak for nobody, or for somebody else; the log keeps the evidence';
/** What whoever runs the broker reads. */
const UNREAD = 'a partition of an input cannot be read now, and is asked for again: its code says why, and what to do';

const FOREIGN =
  'strangers are in the group of this service and were given partitions, which nobody works on: stop them, and let rules of access keep others out';

type EventLogger = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>;

/** Where a process tells of its loops, and which void records it has told of. */
export interface Telling {
  readonly metrics: Pick<Metrics, 'count' | 'observe'>;
  readonly logger: EventLogger;
  readonly voids: FirstMet;
}

/** Counters of a partition: whoever takes it over begins them. */
const COUNTED_BY_OWNERS = [
  'recordsAccepted',
  'recordsVoid',
  'recordsUnvouched',
  'appendsUnknown',
  'projectionsFenced',
] as const;

/** Counts and logs one event. */
export function tell(event: PlacedEvent, { metrics, logger, voids }: Telling): void {
  const { log, partition } = event;
  const at = { log, partition };
  switch (event.kind) {
    case 'appended':
      metrics.count('recordsAccepted', at, event.records);
      metrics.observe('batchRecords', { log }, event.records);
      return;
    case 'append_unknown':
      metrics.count('appendsUnknown', at);
      logger.warn({ ...at, err: event.cause }, 'an append had an unknown outcome; the tail is read anew');
      return;
    case 'recovered':
      metrics.count('takeOvers', { log });
      for (const name of COUNTED_BY_OWNERS) metrics.count(name, at, 0);
      metrics.count('recordsVoid', at, voids.countOf(log, partition, event.voids));
      logger.info({ ...at, seq: event.seq, replayed: event.replayed, voids: event.voids.length }, 'owns the partition');
      return;
    case 'parked':
    case 'redirected':
    case 'refused':
      tellSetAside(event, metrics, logger);
      return;
    case 'fetch_failed':
    case 'halted':
    case 'error':
      tellTrouble(event, metrics, logger);
      return;
    case 'accepted':
      return;
  }
}

/** Begins the counters of inputs: what rises from nothing is seen to rise only where the nothing was told. */
export function beginCounters(
  cores: readonly Pick<ServiceCore, 'log' | 'inputs'>[],
  metrics: Pick<Metrics, 'count'>,
): void {
  for (const { log, inputs } of cores)
    for (const { topic, source, mode } of inputs)
      if (source === 'wire' && mode === 'aligned') metrics.count('recordsRedirected', { log, topic }, 0);
}

/** What was not decided on: parked, sent home, or dropped. */
function tellSetAside(
  event: Extract<PlacedEvent, { readonly kind: 'parked' | 'redirected' | 'refused' }>,
  metrics: Pick<Metrics, 'count'>,
  logger: Pick<Logger, 'warn' | 'error'>,
): void {
  const { log, partition } = event;
  const at = { log, partition };
  if (event.kind === 'parked') {
    const { reason, topic, offset, thrown: err } = event;
    metrics.count('recordsParked', { log, reason });
    if (err === undefined) logger.warn({ ...at, topic, offset, reason }, 'parked a record');
    else logger.error({ ...at, topic, offset, reason, err }, 'parked a record: a bug, please report it');
  } else if (event.kind === 'redirected') {
    metrics.count('recordsRedirected', { log, topic: event.topic });
    logger.warn({ ...at, topic: event.topic, producer: event.producer }, MISPLACED);
  } else {
    const { topic, reason, records } = event;
    metrics.count('recordsRefused', { log, topic, reason }, records);
    logger.warn({ ...at, topic, reason, records }, REFUSED);
  }
}

const NOWHERE = 'a message has nowhere to go, and what it asked for ends by its deadline: make the topic that it names';
const isNowhere = (cause: unknown): boolean => cause instanceof Failure && cause.code === 'TOPIC_MISSING';

function tellTrouble(
  event: Extract<PlacedEvent, { readonly kind: 'fetch_failed' | 'halted' | 'error' }>,
  metrics: Pick<Metrics, 'count'>,
  logger: EventLogger,
): void {
  const { log, partition, cause: err } = event;
  const at = { log, partition, err };
  if (event.kind === 'halted') logger.error(at, 'halted: a person has to act');
  else if (event.kind === 'error') {
    metrics.count('loopFailures', { log, code: err instanceof Failure ? err.code : 'unexpected' });
    logger.warn({ ...at, where: event.where }, isNowhere(err) ? NOWHERE : 'an operation failed and is tried again');
  } else {
    const { topic, code } = event;
    metrics.count('fetchesFailed', { log, topic, code });
    logger.warn({ ...at, topic, code }, UNREAD);
  }
}

const PER_PARTITION = [
  'projectionLag',
  'reactionLag',
  'inputsWaiting',
  'obligationAgeSeconds',
  'partitionsOwned',
  'partitionStuck',
] as const;

/** What this process runs, and the logs of its service: it may have no partition of one. */
interface Standing {
  readonly logs: readonly string[];
  readonly loops: readonly LoopHealth[];
}

/** Gauges that are read off the loops when somebody asks for metrics. `now` is epoch milliseconds. */
export function gauge({ logs, loops }: Standing, metrics: Pick<Metrics, 'set' | 'clear'>, now: number): void {
  // A partition that went to another process is told by that one.
  for (const name of PER_PARTITION) metrics.clear(name);
  const owned = new Map(logs.map((log) => [log, 0]));
  for (const { log, partition, seq, projectedSeq, reactedSeq, waiting, owedSince, state, problem } of loops) {
    const isHalted = state === 'halted';
    owned.set(log, (owned.get(log) ?? 0) + (isHalted ? 0 : 1));
    metrics.set('partitionStuck', { log, partition }, isHalted || problem !== null ? 1 : 0);
    metrics.set('projectionLag', { log, partition }, Math.max(0, seq - projectedSeq));
    metrics.set('reactionLag', { log, partition }, Math.max(0, seq - reactedSeq));
    metrics.set('inputsWaiting', { log, partition }, waiting);
    metrics.set(
      'obligationAgeSeconds',
      { log, partition },
      owedSince === null ? 0 : Math.max(0, now - owedSince) / 1_000,
    );
  }
  for (const [log, count] of owned) metrics.set('partitionsOwned', { log }, count);
}

/** Counts and logs what became of other members of the group. */
export function tellOfPeers(event: PeerEvent, metrics: Pick<Metrics, 'count' | 'set'>, logger: EventLogger): void {
  switch (event.kind) {
    case 'put_out':
      metrics.count('peersPutOut', {}, event.members.length);
      logger.warn(
        { members: event.members },
        'an instance is gone, killed or stopped: it is out of the group, and others take over',
      );
      return;
    case 'foreign':
      metrics.set('foreignMembers', {}, event.members.length);
      if (event.members.length > 0) logger.error({ members: event.members }, FOREIGN);
      return;
    case 'failed':
      logger.debug({ err: event.cause }, 'who else is here could not be asked; the group misses the dead by itself');
      return;
  }
}
