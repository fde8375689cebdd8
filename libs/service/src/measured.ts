// Ports that count and time what goes through them. Nothing depends on it, and nothing of what is asked or answered changes.
import type { PartitionStore, StoreFactory } from '@recourse/event-log';
import type { Kafka, LogProducer } from '@recourse/kafka';
import type { Metrics } from '@recourse/telemetry';

type Observer = Pick<Metrics, 'count' | 'observe'>;

/** Kafka whose appends to logs are timed. What landed nowhere known is counted by the loop. */
export function measuredKafka(kafka: Kafka, metrics: Observer): Kafka {
  return {
    logProducer: async () => measuredProducer(await kafka.logProducer(), metrics),
    wireProducer: () => kafka.wireProducer(),
    rawReader: (of) => kafka.rawReader(of),
    inputConsumer: (options) => kafka.inputConsumer(options),
    group: (groupId) => kafka.group(groupId),
    admin: () => kafka.admin(),
  };
}

/** Stores whose projections are timed, and counted where another owner had moved the head. */
export function measuredStores(stores: StoreFactory, metrics: Observer): StoreFactory {
  return {
    partition: (log, partition) => measuredStore(stores.partition(log, partition), { log, partition }, metrics),
  };
}

function measuredProducer(producer: LogProducer, metrics: Observer): LogProducer {
  return {
    send: async (topic, partition, records) => {
      const began = performance.now();
      const outcome = await producer.send(topic, partition, records);
      if (outcome.kind === 'landed') metrics.observe('appendSeconds', { log: topic }, secondsSince(began));
      return outcome;
    },
    close: () => producer.close(),
  };
}

function measuredStore(
  store: PartitionStore,
  { log, partition }: { readonly log: string; readonly partition: number },
  metrics: Observer,
): PartitionStore {
  const project: PartitionStore['project'] = async (from, to, changes) => {
    const began = performance.now();
    const result = await store.project(from, to, changes);
    if (result === 'projected') metrics.observe('projectSeconds', { log }, secondsSince(began));
    else metrics.count('projectionsFenced', { log, partition });
    return result;
  };
  // Whatever else a store can do goes through untouched, whichever class it is of.
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'project') return project;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value; // a method, bound to the store it is of
    },
  });
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1_000;
}
