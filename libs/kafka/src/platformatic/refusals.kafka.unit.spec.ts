// What a broker's refusal means to who asked: a rule of access is no broker that is away, and is told as what it is.
import { describe, expect, it } from '@jest/globals';
import { AuthenticationError, ResponseError } from '@platformatic/kafka';
import { asFailure as ofKafkajs } from '../kafkajs/failures.kafka.js';
import { asFailure as ofPlatformatic } from './failures.kafka.js';

/** With Kafka's number of each. */
const REFUSALS = [
  ['TOPIC_AUTHORIZATION_FAILED', 29],
  ['GROUP_AUTHORIZATION_FAILED', 30],
  ['CLUSTER_AUTHORIZATION_FAILED', 31],
  ['TRANSACTIONAL_ID_AUTHORIZATION_FAILED', 53],
] as const;

describe('a refusal of the broker', () => {
  it.each(REFUSALS)('by a rule of access is told as one, whichever client heard it: %s', (refusal, number) => {
    const answered = new ResponseError(0, 7, { '/topics/0': [number, null] }, {});
    expect(ofPlatformatic(answered, 'recourse.mutations')).toMatchObject({ code: 'BROKER_REFUSED' });
    const wrapped = new Error('retries exceeded', { cause: Object.assign(new Error('no'), { type: refusal }) });
    expect(ofKafkajs(wrapped, 'recourse.mutations')).toMatchObject({ code: 'BROKER_REFUSED' });
  });

  it('of a password is told as one, whichever client heard it', () => {
    const refused = new Error('Connection failed.', { cause: new AuthenticationError('SASL authentication failed.') });
    expect(ofPlatformatic(refused, 'raw reader')).toMatchObject({ code: 'BROKER_REFUSED' });
    const sasl = Object.assign(new Error('SCRAM-SHA-512'), { name: 'KafkaJSSASLAuthenticationError' });
    expect(ofKafkajs(sasl, 'admin')).toMatchObject({ code: 'BROKER_REFUSED' });
  });

  it('to make rules where nobody is asked who they are is a matter of its configuration', () => {
    expect(ofKafkajs(Object.assign(new Error('no'), { type: 'SECURITY_DISABLED' }), 'rules')).toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });
});
