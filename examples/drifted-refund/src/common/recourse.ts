// How a process of the example reaches Recourse: Kafka, schemas, tokens of the development issuer.
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { systemClock } from '@recourse/sdk';
import { ask } from './http.js';

export interface Recourse {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
}

/** `via`: one `host:port` that every connection to a broker goes to. */
export function reachRecourse(
  brokers: readonly string[],
  registryUrl: string,
  clientId: string,
  via?: string,
): Recourse {
  return {
    kafka: createKafka({ brokers, clientId, ...(via === undefined ? {} : { via }) }),
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
