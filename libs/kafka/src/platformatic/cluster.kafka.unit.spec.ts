import { describe, expect, it } from '@jest/globals';
import { ResponseError } from '@platformatic/kafka';
import type { Connection } from '@platformatic/kafka';
import { codeOf } from '../testing/owner.testing.js';
import { BrokerCluster, connectionOptions } from './cluster.kafka.js';

const BROKERS = { brokers: ['b1.example:9092'], clientId: 'spec' };
const B1 = { host: 'b1.example', port: 9092 };

/** A cluster whose one broker holds its answers until it is told to give them. */
class Held extends BrokerCluster {
  readonly held: ((error: Error | null, answer?: unknown) => void)[] = [];

  override connectionTo(): Promise<Connection> {
    const send = (...given: readonly unknown[]): void => {
      this.held.push(given.at(-1) as (typeof this.held)[number]); // the callback is last
    };
    return Promise.resolve({ send } as unknown as Connection); // nothing else of it is used
  }
}

/** Of two partitions the first has no leader. */
const ONE_LED = {
  brokers: [{ nodeId: 1, host: 'b1.example', port: 9092 }],
  topics: [
    {
      errorCode: 0,
      name: 'wire',
      partitions: [
        { errorCode: 5, partitionIndex: 0, leaderId: -1 },
        { errorCode: 0, partitionIndex: 1, leaderId: 1 },
      ],
    },
  ],
};
const leaderless = () => new ResponseError(3, 8, { '/topics/0/partitions/0': [5, null] }, ONE_LED);

describe('a cluster in which one partition has no leader', () => {
  it('names those of the others, and how many there are, to whoever asks at the same moment', async () => {
    const cluster = new Held(BROKERS, 1_000);
    const asked = [
      codeOf(cluster.leaderOf('wire', 0)),
      codeOf(cluster.leaderOf('wire', 1)),
      codeOf(cluster.partitionCount('wire')),
    ];
    while (cluster.held.length < asked.length) await Promise.resolve();
    for (const tell of cluster.held) tell(leaderless());
    expect(await Promise.all(asked)).toEqual(['BROKER_UNAVAILABLE', 'no failure', 'no failure']);
  });

  it('is refused where the topic itself is', async () => {
    const cluster = new Held(BROKERS, 1_000);
    const asked = codeOf(cluster.partitionCount('nowhere').then(() => undefined));
    while (cluster.held.length === 0) await Promise.resolve();
    const topics = [{ errorCode: 3, name: 'nowhere', partitions: [] }];
    cluster.held[0]?.(new ResponseError(3, 8, { '/topics/0': [3, null] }, { brokers: [], topics }));
    expect(await asked).not.toBe('no failure');
  });
});

describe('a connection to a broker', () => {
  it('is plain unless told otherwise', () => {
    const plain = { connectTimeout: 3_000, requestTimeout: 700 };
    expect(connectionOptions(BROKERS, B1, 700)).toEqual(plain);
    expect(connectionOptions({ ...BROKERS, ssl: false }, B1, 700)).toEqual(plain);
  });

  it('asks for the certificate of the broker, not of the tunnel to it', () => {
    const tunnelled = { ...BROKERS, via: '127.0.0.1:1', ssl: true };
    expect(connectionOptions(tunnelled, B1, 700).tls).toEqual({ servername: 'b1.example' });
  });

  it('names no server where the broker has only an address, and takes the name it is given', () => {
    const bare = { host: '10.0.0.7', port: 9092 };
    expect(connectionOptions({ ...BROKERS, ssl: { ca: 'ca' } }, bare, 700).tls).toEqual({ ca: 'ca' });
    expect(connectionOptions({ ...BROKERS, ssl: { servername: 'kafka' } }, B1, 700).tls).toEqual({
      servername: 'kafka',
    });
  });

  it.each([
    ['plain', 'PLAIN'],
    ['scram-sha-256', 'SCRAM-SHA-256'],
    ['scram-sha-512', 'SCRAM-SHA-512'],
  ] as const)('signs in by %s with name and password', (mechanism, spoken) => {
    const sasl = { mechanism, username: 'ledger', password: 'secret' };
    expect(connectionOptions({ ...BROKERS, sasl }, B1, 700).sasl).toEqual({
      mechanism: spoken,
      username: 'ledger',
      password: 'secret',
    });
  });

  it('signs in by oauthbearer with a fresh token each time', () => {
    const token = (): Promise<string> => Promise.resolve('t');
    expect(connectionOptions({ ...BROKERS, sasl: { mechanism: 'oauthbearer', token } }, B1, 700).sasl).toEqual({
      mechanism: 'OAUTHBEARER',
      token,
    });
  });
});
