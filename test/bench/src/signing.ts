// Keys for benches that sign: one for each service, and one for a producer.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICES } from '@recourse/dev-stack';
import { createKafka, signingFrom, testKeys } from '@recourse/kafka';
import type { Kafka, SigningPlaces } from '@recourse/kafka';
import { systemClock } from '@recourse/kernel';
import { ownerOfLog } from '@recourse/messages';

const PRODUCER = 'bench-producer';

/** Where wires are strict: who signs, and where the files are. */
export interface BenchKeys {
  readonly placesOf: (id: string) => SigningPlaces;
  /** What a service is told, by its name. */
  readonly envOf: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** A client that signs as the producer of the bench. */
  readonly producing: (brokers: readonly string[]) => Kafka;
}

/** Makes keys in a folder. */
export function benchKeys(folder: string): BenchKeys {
  const services = Object.fromEntries(SERVICES.map((name) => [name, { role: 'service' as const, names: [name] }]));
  const keys = testKeys({ ...services, [PRODUCER]: { role: 'producer' } });
  const file = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const keyringFile = file('keyring.json', keys.text);
  const placesOf = (id: string): SigningPlaces => ({
    wires: 'strict',
    keyringFile,
    signingKeyFile: file(`${id}.pem`, keys.pem(id)),
    signingKeyId: id,
  });
  const envOf = Object.fromEntries(
    SERVICES.map((name) => [
      name,
      {
        RECOURSE_WIRES: 'strict',
        RECOURSE_KEYRING_FILE: keyringFile,
        RECOURSE_SIGNING_KEY_FILE: file(`${name}.pem`, keys.pem(name)),
        RECOURSE_SIGNING_KEY_ID: name,
      },
    ]),
  );
  return {
    placesOf,
    envOf,
    producing: (brokers) =>
      createKafka({ brokers, clientId: 'bench-producer', signing: signingOf(placesOf(PRODUCER)) }),
  };
}

/** How a process of a bench signs; null where it does not. */
export function signingOf(places: SigningPlaces | undefined): ReturnType<typeof signingFrom> {
  return places === undefined ? null : signingFrom(places, { ownerOf: ownerOfLog, clock: systemClock });
}
