import { kafkaContract } from './kafka.contract.js';
import type { FaultyKafka, KafkaHarness } from './kafka-scene.contract.js';
import { MemoryBroker } from './memory/broker.memory.js';
import { openGate } from './memory/gate.memory.js';
import type { Gate, GateVerdict } from './memory/gate.memory.js';
import { openRealBroker } from './testing/real-broker.js';

kafkaContract('memory', () => Promise.resolve(openMemoryBroker()));
kafkaContract('broker', openRealBroker);

function openMemoryBroker(): KafkaHarness {
  const appends = new Map<string, GateVerdict>();
  const gate: Gate = {
    enter: async (operation) => {
      const verdict = await openGate.enter(operation);
      return operation.kind === 'append' ? (appends.get(operation.actor) ?? verdict) : verdict;
    },
  };
  const broker = new MemoryBroker({ gate });
  let actorCount = 0;
  const faulty = (): FaultyKafka => {
    const name = `faulty-${String((actorCount += 1))}`;
    return {
      kafka: broker.forActor(name),
      loseAnswers: () => {
        appends.set(name, 'lose_ack');
      },
      hold: () => {
        appends.set(name, 'late');
      },
      release: () => {
        broker.pendingLate.forEach((packet) => {
          packet.release();
        });
        return Promise.resolve();
      },
      silence: () => {
        broker.crash(name);
      },
      kill: () => {
        broker.crash(name);
        broker.expireMember(name);
      },
      close: () => Promise.resolve(),
    };
  };
  return {
    kafka: broker.forActor('main'),
    faulty: () => Promise.resolve(faulty()),
    trim: (topic, partition, offset) => {
      broker.trim(topic, partition, offset);
      return Promise.resolve();
    },
    transaction: (topic, partition, sent) => {
      const open = broker.transaction(topic, partition, sent);
      const end = (how: 'commit' | 'abort') => () => {
        open[how]();
        return Promise.resolve();
      };
      return Promise.resolve({ commit: end('commit'), abort: end('abort') });
    },
    close: () => Promise.resolve(),
  };
}
