// Passwords of users, which kafkajs has no request for. What is sent is salted here: the password itself does not leave.
import { pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { alterUserScramCredentialsV0 } from '@platformatic/kafka';
import type { KafkaOptions } from '../options.js';
import { ended } from '../time-limit.js';
import { BrokerCluster } from './cluster.kafka.js';
import { asFailure } from './failures.kafka.js';

/** Kafka's number for SCRAM-SHA-512, the least it takes of iterations, and the length of what SHA-512 gives. */
const [SCRAM_SHA_512, ITERATIONS, KEY_BYTES] = [2, 4_096, 64];
const SALT_BYTES = 24;
const REQUEST_TIMEOUT_MS = 10_000;

/** Errors: Failure(BROKER_REFUSED, BROKER_UNAVAILABLE). */
export async function setPasswords(options: KafkaOptions, passwords: Readonly<Record<string, string>>): Promise<void> {
  const upserted = await Promise.all(Object.entries(passwords).map(([user, password]) => credentialOf(user, password)));
  if (upserted.length === 0) return;
  const cluster = new BrokerCluster(options, options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS);
  try {
    await alterUserScramCredentialsV0.api.async(await cluster.anyConnection(), [], upserted);
  } catch (error) {
    throw asFailure(error, 'passwords');
  } finally {
    await ended(cluster.close());
  }
}

type Credential = Parameters<typeof alterUserScramCredentialsV0.createRequest>[1][number];

async function credentialOf(name: string, password: string): Promise<Credential> {
  const salt = randomBytes(SALT_BYTES);
  const saltedPassword = await promisify(pbkdf2)(password, salt, ITERATIONS, KEY_BYTES, 'sha512');
  return { name, mechanism: SCRAM_SHA_512, iterations: ITERATIONS, salt, saltedPassword };
}
