// How a process of the example reaches Recourse: Kafka, schemas, tokens of the development issuer.
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka, KafkaAccess } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { kafkaAccessIn, systemClock } from '@recourse/sdk';
import { ask } from './http.js';

export interface Recourse {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
}

/** How Kafka is reached, beside where it is. */
export interface Reaching extends KafkaAccess {
  /** One `host:port` that every connection to a broker goes to. */
  readonly via?: string | undefined;
}

/** As whom a process speaks to Kafka stands in its environment, unless told. */
export function reachRecourse(
  brokers: readonly string[],
  registryUrl: string,
  clientId: string,
  { via, ...access }: Reaching = kafkaAccessIn(process.env),
): Recourse {
  return {
    kafka: createKafka({ brokers, clientId, ...access, ...(via === undefined ? {} : { via }) }),
    codecs: createCodecs(createSchemaRegistry({ url: registryUrl })),
  };
}

/** Repeats until it works, with a pause; a process of the example outlives a stack that is still starting. */
export async function untilReached<T>(what: string, act: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      process.stderr.write(`${what}: ${error instanceof Error ? error.message : String(error)}\n`);
      await systemClock.sleep(RETRY_PAUSE_MS);
    }
  }
}

/** A token of the development issuer. */
export async function tokenFrom(
  issuerUrl: string,
  who: { readonly subject: string; readonly roles: readonly string[]; readonly tenant: string },
): Promise<string> {
  const { status, body } = await ask(`${issuerUrl}/token`, { method: 'POST', body: who });
  if (typeof body['access_token'] !== 'string') throw new Error(`the issuer answered ${String(status)}`);
  return body['access_token'];
}

const RETRY_PAUSE_MS = 500;
