import { describe, expect, it } from '@jest/globals';
import { connectionOptions } from './cluster.kafka.js';

const BROKERS = { brokers: ['b1.example:9092'], clientId: 'spec' };
const B1 = { host: 'b1.example', port: 9092 };

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
