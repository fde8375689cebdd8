// Where the payloads that a wire told in the clear stand sealed: in the records that were decided from them.
import type { PlacedRecord } from '../own-log.js';
import { mapPayloads } from '../sealing/payload-walk.js';
import type { PayloadDoc } from '../sealing/sealing.js';
import type { Doc } from '../service-core.js';
import { nameOf } from './payload-keys.js';
import type { PayloadKeys } from './payload-keys.js';
import type { PinnedPayload } from './pin.messages.js';

/** Records behind an input that may hold its payloads. */
const RECORDS_MAX = 8;

export interface Homes {
  /** Sealed payloads by the names that the wire's have in a pin. */
  readonly sealed: ReadonlyMap<string, PayloadDoc>;
  /** A record there holds one that nobody can open any more. */
  readonly isErased: boolean;
}

/** Errors: Lacking, for a key that has to be loaded. */
export function homesOf(
  told: ReadonlyMap<string, PayloadDoc>,
  records: readonly Pick<PlacedRecord, 'body'>[],
  keys: PayloadKeys,
): Homes {
  const sealed = new Map<string, PayloadDoc>();
  if (told.size === 0) return { sealed, isErased: false };
  let isErased = false;
  const held: { readonly stored: PayloadDoc; readonly plain: PayloadDoc }[] = [];
  for (const { body } of records.slice(0, RECORDS_MAX))
    for (const stored of payloadsIn(body)) {
      const opened = keys.open(stored);
      if (opened.kind === 'opened') held.push({ stored, plain: opened.payload });
      isErased ||= opened.kind === 'payload_erased';
    }
  for (const [name, { content_type, body }] of told) {
    const home = held.find(({ plain }) => plain.content_type === content_type && plain.body.equals(body));
    if (home !== undefined) sealed.set(name, home.stored);
  }
  return { sealed, isErased };
}

/** Every sealed payload in a document. */
export function payloadsIn(doc: unknown): readonly PayloadDoc[] {
  const found: PayloadDoc[] = [];
  mapPayloads(doc, (payload) => {
    if (payload.encoding === 'sealed') found.push(payload);
    return payload;
  });
  return found;
}

/** What a pin tells of payloads: those of its wire, and whatever else was opened. */
export function namesOf(sealed: ReadonlyMap<string, PayloadDoc>, opened: readonly string[]): readonly PinnedPayload[] {
  const ofWire = [...sealed].map(([wire, payload]) => ({ sha256: nameOf(payload), wire }));
  const rest = opened.filter((name) => !ofWire.some(({ sha256 }) => sha256 === name));
  return [...ofWire, ...rest.map((sha256) => ({ sha256, wire: null }))];
}

/** The same from a pin and the records that it made: what they do not hold stays withheld. */
export function sealedIn(payloads: readonly PinnedPayload[], bodies: readonly Doc[]): Homes['sealed'] {
  const named = new Map(payloads.flatMap(({ wire, sha256 }) => (wire === null ? [] : [[sha256, wire] as const])));
  const found = named.size === 0 ? [] : payloadsIn(bodies);
  return new Map(
    found.flatMap((payload) => {
      const wire = named.get(nameOf(payload));
      return wire === undefined ? [] : [[wire, payload] as const];
    }),
  );
}
