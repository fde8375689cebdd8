// What opens sealed payloads while decisions are pinned or made again: keys of a store that is only asked, or none.
//
// Boundary: makes and destroys no key, and keeps what it opened to itself: pins name payloads by the hash of their sealed bytes.
import { sha256 } from '@recourse/chain';
import { Lacking } from '../lacks.js';
import type { KeyStore, StoredKey } from '../sealing/key-store.port.js';
import { openBytes } from '../sealing/keys.js';
import { sealedUnder } from '../sealing/sealing.js';
import type { PayloadDoc } from '../sealing/sealing.js';

/** Why a payload is not opened: nobody here has its key, or its key was destroyed. */
export type Closed = 'payload_sealed' | 'payload_erased';
export type Opened = { readonly kind: 'opened'; readonly payload: PayloadDoc } | { readonly kind: Closed };

export interface PayloadKeys {
  /** Errors: Lacking, where its key has to be loaded first. */
  readonly open: (sealed: PayloadDoc) => Opened;
}

/** Opens nothing. */
export const NO_KEYS: PayloadKeys = { open: () => ({ kind: 'payload_sealed' }) };

/** Keys of a store, as they are when they are loaded. A key that nobody made opens nothing. */
export class OpenKeys implements PayloadKeys {
  readonly #known = new Map<string, StoredKey | null>();
  readonly #opened = new WeakMap<PayloadDoc, Opened>();

  constructor(private readonly store: Pick<KeyStore, 'find'>) {}

  /** Loads the keys of all payloads in these. Errors: Failure(KEY_STORE_UNAVAILABLE). */
  async loadFor(docs: unknown): Promise<void> {
    await this.load(sealedUnder(docs));
  }

  /** Errors: Failure(KEY_STORE_UNAVAILABLE). */
  async load(keyIds: readonly string[]): Promise<void> {
    const missing = keyIds.filter((id) => !this.#known.has(id));
    if (missing.length === 0) return;
    const found = new Map((await this.store.find(missing)).map((key) => [key.keyId, key]));
    for (const id of missing) this.#known.set(id, found.get(id) ?? null);
  }

  open(sealed: PayloadDoc): Opened {
    const known = this.#opened.get(sealed);
    if (known !== undefined) return known;
    const opened = this.#open(sealed);
    this.#opened.set(sealed, opened);
    return opened;
  }

  #open({ content_type, encoding, key_id, body: bytes }: PayloadDoc): Opened {
    if (encoding !== 'sealed' || key_id === null) return { kind: 'payload_sealed' };
    const key = this.#known.get(key_id);
    if (key === undefined) throw new Lacking({ keys: [key_id] });
    if (key === null) return { kind: 'payload_sealed' };
    if (key.secret === null) return { kind: 'payload_erased' };
    const body = openBytes(key.secret, content_type, bytes);
    if (body === null) return { kind: 'payload_sealed' };
    return { kind: 'opened', payload: { content_type, encoding: 'plain', key_id: null, body, sha256: sha256(body) } };
  }
}

/** Opens the payloads that a pin names, and no other. */
export function onlyNamed(keys: PayloadKeys, named: ReadonlySet<string>): PayloadKeys {
  return {
    open: (sealed) => (named.has(nameOf(sealed)) ? keys.open(sealed) : { kind: 'payload_sealed' }),
  };
}

/** How a pin names a payload: the hash of its sealed bytes, in hex. */
export const nameOf = ({ sha256: hash }: PayloadDoc): string => Buffer.from(hash).toString('hex');
