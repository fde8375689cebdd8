// Vault: the keys of one process in memory, and what is sealed and opened under them.
//
// Boundary: synchronous to the loop; asks the key store only between decisions. A new subject gets a key of chance at
// once, and `settle` makes it durable before the append, or says that another process was first.
//
// Invariants
//   V1. A key that is not durable seals nothing that is appended.
//   V2. A key is believed for a time (`believedMs`) from when the store was asked: then the store is asked again whether it was destroyed.
//   V3. A payload that was opened here seals to the very bytes it was, whatever the window; a producer's word on keys counts nothing.
//   V4. A payload is opened when it is used, once for as long as its key is there: of a key that was destroyed nothing opened is handed out.
//   V5. A proposed key opens what was sealed with it here, and hides no other: another process may have made the key of its scope.
//   V6. What says whose it is is opened under no key of another tenant, whatever its payloads name; keys of no tenant open for all.
//   V7. What the store knows nothing of is lost and not erased, also where its scope has another key by now: nothing is decided on it.
import { sha256 } from '@recourse/chain';
import { Failure } from '@recourse/kernel';
import { Lacking } from '../lacks.js';
import { tenantOf } from '../parking.decisions.js';
import type { Doc, SealScope } from '../service-core.js';
import type { KeyScope, KeyStore, StoredKey } from './key-store.port.js';
import { keptAt, Recent } from './kept-at.js';
import { SECRET_BYTES, keyIdOf, openBytes, scopeId, scopeOfFirst, sealBytes, storableName } from './keys.js';
import { openingPayload } from './sealing.js';
import { mapMembers, mapParts, mapPayloads, withHashes } from './payload-walk.js';
import type { BatchSealing, PayloadDoc, Sealing } from './sealing.js';

export interface VaultOptions {
  readonly store: KeyStore;
  /** Length of a retention window, milliseconds: what falls into one is erased together. */
  readonly windowMs: number;
  /** Milliseconds of any clock that does not go back. */
  readonly now: () => number;
  /** How long a key is believed without asking whether it was destroyed, milliseconds; a minute unless told otherwise. */
  readonly believedMs?: number;
  /** Secrets of chance; seeded in simulation. */
  readonly random: (bytes: number) => Buffer;
}

/** What `believedMs` is unless told otherwise. */
export const BELIEVED_MS = 60_000;
/** Documents that were opened on use and are remembered; their parts are remembered at themselves. */
const DOCUMENTS_MAX = 4_096;
/** Keys in memory at the most; the least recently asked for go first. */
const KEYS_MAX = 50_000;
const PARKED_CONTEXT = 'application/octet-stream';

/** The key a scope is sealed under at present; `keyId` is null until the store has answered. */
interface Current {
  readonly scope: KeyScope;
  readonly secret: Buffer;
  keyId: string;
  isDurable: boolean;
  isLost: boolean;
  askedAt: number;
}

/** `isFinal`: a destroyed key stays destroyed; an id that nobody made yet is asked for again. */
interface Known {
  readonly tenant: string;
  readonly secret: Buffer | null;
  readonly isFinal: boolean;
  readonly askedAt: number;
}

/** What is sealed under one key: an element of `members`, or what is outside of them. Asked for its key at most once. */
interface SealedPart {
  readonly keyOf: () => Current;
  /** Hashes of sealed payloads by those they had in the clear: of this part, and of the whole document. */
  readonly hashes: Map<string, Buffer>;
  readonly all: Map<string, Buffer>;
}

export class Vault implements Sealing {
  readonly #current = new Map<string, Current>();
  readonly #known = new Map<string, Known>();
  /** The first key of each scope, as the store told of it. */
  readonly #told = new Map<string, string>();
  /** Secrets of keys that are not durable yet, by id: what a batch sealed, its later decisions read. */
  readonly #proposed = new Map<string, Buffer>();
  /** Payloads in the clear by what they were opened from, and back. */
  readonly #plain = keptAt<PayloadDoc, PayloadDoc>();
  readonly #sealed = keptAt<PayloadDoc, PayloadDoc>();
  /** Payloads and documents that open when they are used, by what they were sealed. */
  readonly #opening = keptAt<PayloadDoc, PayloadDoc>();
  /** Documents are copied whenever a row changes, and an object at which something is kept is copied member by member: these are kept apart. */
  readonly #documents = new Recent<Doc, Doc>(DOCUMENTS_MAX);
  readonly #parts = keptAt<object, object>();
  /** Keys that the decision being made used and that are not here; null between decisions. */
  #lacked: Set<string> | null = null;

  readonly #believedMs: number;

  constructor(private readonly options: VaultOptions) {
    this.#believedMs = options.believedMs ?? BELIEVED_MS;
  }

  batch(now: number): BatchSealing {
    const used = new Set<Current>();
    const foreseen = new Set<Current>();
    return {
      seal: (body, scopeOf) => this.#sealDoc(body, (member) => this.#keyOf(scopeOf(member), now, used)),
      sealBytes: (bytes, scope) => {
        const { keyId, secret } = this.#keyOf(scope, now, used);
        return { keyId, body: sealBytes(secret, PARKED_CONTEXT, bytes) };
      },
      foresee: (body, scopeOf) => {
        this.#foresee(body, (member) => {
          const scope = scopeOf(member);
          if (scope !== null) this.#keyOf(scope, now, foreseen);
        });
      },
      prepare: async () => {
        await this.#settle(new Set([...used, ...foreseen]));
      },
      settle: () => this.#settle(used),
    };
  }

  open(doc: Doc): Doc {
    const tenant = tenantOf(doc);
    return mapPayloads(doc, (payload) => this.#openPayload(payload, tenant)) as Doc;
  }

  openOnUse(doc: Doc): Doc {
    const known = this.#documents.get(doc);
    if (known !== undefined) return known;
    const tenant = tenantOf(doc);
    const opening = mapMembers(doc, (member) => this.#openingPart(member, tenant));
    this.#documents.set(doc, opening);
    return opening;
  }

  /** A row is a new document at each change, and most of what is in it is the very object that it was. */
  #openingPart(part: object, tenant: string | null): unknown {
    const known = this.#parts.get(part);
    if (known !== undefined) return known;
    const opening = mapPayloads(part, (payload) => this.#openingPayload(payload, tenant)) as object;
    this.#parts.set(part, opening);
    return opening;
  }

  using<T>(decide: () => T): { readonly decided: T; readonly lacked: readonly string[] } {
    const lacked = new Set<string>();
    this.#lacked = lacked;
    try {
      return { decided: decide(), lacked: [...lacked] };
    } catch (cause) {
      throw lacked.size > 0
        ? new Lacking({ ...(cause instanceof Lacking ? cause.lack : {}), keys: [...lacked] })
        : cause;
    } finally {
      this.#lacked = null;
    }
  }

  show(doc: Doc): Doc {
    const tenant = tenantOf(doc);
    return mapPayloads(doc, (payload) => this.#shownPayload(payload, tenant)) as Doc;
  }

  openBytes(keyId: string, body: Buffer): Buffer | null {
    return this.#openWith(keyId, PARKED_CONTEXT, body);
  }

  async load(keyIds: readonly string[], isAnew = false): Promise<void> {
    const missing = keyIds.filter((id) => isAnew || !this.#isBelieved(id));
    if (missing.length === 0) return;
    const askedAt = this.options.now();
    const found = new Map((await this.options.store.find(missing)).map((key) => [key.keyId, key]));
    // An id that it does not know is asked for again.
    for (const keyId of missing)
      this.#learn(found.get(keyId) ?? { keyId, tenant: '', secret: null }, found.has(keyId), askedAt);
  }

  /** Believes nothing it holds: what was destroyed a moment ago is asked for again. */
  forget(): void {
    this.#known.clear();
    this.#told.clear();
    this.#current.clear();
    this.#proposed.clear();
  }

  // Sealing -------------------------------------------------------------------------------------------------------------

  #keyOf({ tenant, subject, unit }: SealScope, now: number, used: Set<Current>): Current {
    const { windowMs } = this.options;
    const windowStart = Math.floor(now / windowMs) * windowMs;
    const scope: KeyScope = {
      tenant,
      subject,
      windowStart,
      windowEnd: windowStart + windowMs,
      ...(unit === undefined ? {} : { unit }),
    };
    const id = scopeId(scope);
    const standing = this.#current.get(id);
    const key = standing ?? this.#candidate(id, scope);
    if (standing === undefined) bounded(this.#current, id, key, ({ isDurable }) => isDurable);
    used.add(key);
    return key;
  }

  /** The key the store told of when something under it was read here: it is durable. Else one of chance. */
  #candidate(id: string, scope: KeyScope): Current {
    const told = this.#told.get(id);
    const known = told === undefined ? undefined : this.#known.get(told);
    if (told !== undefined && known !== undefined && known.secret !== null) {
      const { secret, askedAt } = known;
      return { scope, secret, keyId: told, isDurable: true, isLost: false, askedAt };
    }
    const secret = this.options.random(SECRET_BYTES);
    const keyId = keyIdOf(id, 1, secret);
    this.#proposed.set(keyId, secret);
    return { scope, secret, keyId, isDurable: false, isLost: false, askedAt: -Infinity };
  }

  async #settle(used: ReadonlySet<Current>): Promise<boolean> {
    const now = this.options.now();
    const doubtful = [...used].filter(
      ({ isDurable, askedAt, isLost }) => !isLost && (!isDurable || now - askedAt > this.#believedMs),
    );
    if (doubtful.length > 0) {
      const answers = await this.options.store.ensure(
        doubtful.map(({ scope, secret }) => ({ scope, candidate: secret })),
      );
      for (const [index, key] of doubtful.entries()) this.#judge(key, answers[index], now);
    }
    return [...used].every(({ isLost }) => !isLost);
  }

  /** The store's key is this one, id and all, or this one was never anybody's. */
  #judge(key: Current, standing: StoredKey | undefined, now: number): void {
    if (standing === undefined || standing.secret === null) return;
    this.#proposed.delete(key.keyId);
    this.#learn(standing, true, now);
    const id = scopeId(key.scope);
    // Another stands in its place, so one before it was destroyed: what is known of the scope's keys is asked for anew.
    if (standing.keyId !== key.keyId)
      for (const known of [...this.#known.keys()])
        if (known !== standing.keyId && known.startsWith(`${id}.`)) this.#known.delete(known);
    const isOurs = standing.secret.equals(key.secret) && standing.keyId === key.keyId;
    if (isOurs) {
      key.isDurable = true;
      key.askedAt = now;
      return;
    }
    key.isLost = true;
    bounded(
      this.#current,
      id,
      {
        scope: key.scope,
        secret: standing.secret,
        keyId: standing.keyId,
        isDurable: true,
        isLost: false,
        askedAt: now,
      },
      ({ isDurable }) => isDurable,
    );
  }

  #foresee(body: Doc, note: (member: Doc | null) => void): void {
    const noted = new Set<Doc | null>();
    mapParts(body, body, (value, member) =>
      mapPayloads(value, (payload) => {
        if (this.#sealed.get(payload) !== undefined || payload.encoding !== 'plain' || noted.has(member))
          return payload;
        noted.add(member);
        note(member);
        return payload;
      }),
    );
  }

  #sealDoc(body: Doc, keyOf: (member: Doc | null) => Current): Doc {
    const all = new Map<string, Buffer>();
    const parts = new Map<Doc | null, SealedPart>();
    const partOf = (member: Doc | null): SealedPart => {
      const part = parts.get(member) ?? { keyOf: once(() => keyOf(member)), hashes: new Map(), all };
      parts.set(member, part);
      return part;
    };
    const sealed = mapParts(body, body, (value, member) =>
      mapPayloads(value, (payload) => this.#sealPayload(payload, partOf(member))),
    );
    if (all.size === 0) return sealed;
    // A field that repeats the hash of a payload follows it: a hash of something short would tell what it is. What two
    // members have alike is sealed under two keys: each follows its own.
    return mapParts(sealed, body, (value, member) => {
      const own = partOf(member).hashes;
      return withHashes(value, (hash) => own.get(hash) ?? all.get(hash));
    });
  }

  #sealPayload(payload: PayloadDoc, part: SealedPart): PayloadDoc {
    const was = this.#sealed.get(payload);
    if (was !== undefined) return this.#wasSealed(was, part);
    if (payload.encoding !== 'plain') return payload;
    const key = part.keyOf();
    const sealed = this.#freshlySealed(payload, key);
    // What is sealed as a unit is salted by who told it: its hash tells nothing, and names what it is part of.
    return key.scope.unit === undefined ? followed(part, payload, sealed) : sealed;
  }

  /** What nobody opened told nobody its hash. */
  #wasSealed(was: PayloadDoc, part: SealedPart): PayloadDoc {
    const plain = this.#plain.get(was);
    return plain === undefined ? was : followed(part, plain, was);
  }

  #freshlySealed({ content_type, body }: PayloadDoc, { keyId, secret }: Current): PayloadDoc {
    const bytes = sealBytes(secret, content_type, body);
    return { content_type, encoding: 'sealed', key_id: keyId, body: bytes, sha256: sha256(bytes) };
  }

  // Opening -------------------------------------------------------------------------------------------------------------

  /** As it stands in the log, with its content beside it. */
  #shownPayload(payload: PayloadDoc, tenant: string | null): PayloadDoc {
    const opened = this.#openPayload(payload, tenant);
    return opened === payload ? payload : { ...payload, content: opened.body };
  }

  #openingPayload(payload: PayloadDoc, tenant: string | null): PayloadDoc {
    if (payload.encoding !== 'sealed' || payload.key_id === null) return payload;
    const known = this.#opening.get(payload);
    if (known !== undefined) return known;
    const opening = openingPayload(payload, () => this.#openUsed(payload, tenant));
    this.#opening.set(payload, opening);
    this.#sealed.set(opening, payload);
    return opening;
  }

  /** As it is at the time of use; sealed while its key is not here and the one who decides is told so. */
  #openUsed(payload: PayloadDoc, tenant: string | null): PayloadDoc {
    try {
      return this.#openPayload(payload, tenant);
    } catch (cause) {
      if (this.#lacked === null || !(cause instanceof Lacking)) throw cause;
      for (const keyId of cause.lack.keys ?? []) this.#lacked.add(keyId);
      return payload;
    }
  }

  #openPayload(payload: PayloadDoc, tenant: string | null): PayloadDoc {
    if (payload.encoding !== 'sealed' || payload.key_id === null) return payload;
    const secrets = this.#secretsOf(payload.key_id);
    if (tenant !== null && this.#isOfAnother(payload.key_id, tenant)) return payload;
    const known = this.#plain.get(payload);
    if (known !== undefined && secrets.length > 0) return known;
    const body = this.#openWith(payload.key_id, payload.content_type, payload.body);
    if (body === null) return payload;
    const opened: PayloadDoc = {
      content_type: payload.content_type,
      encoding: 'plain',
      key_id: null,
      body,
      sha256: sha256(body),
    };
    this.#plain.set(payload, opened);
    this.#sealed.set(opened, payload);
    return opened;
  }

  /**
   * Null when the key was destroyed, or these are not its bytes.
   *
   * Errors: Lacking when the store must be asked first; Failure(KEY_STORE_UNAVAILABLE) for a key that it has lost.
   */
  #openWith(keyId: string, context: string, bytes: Buffer): Buffer | null {
    for (const secret of this.#secretsOf(keyId)) {
      const body = openBytes(secret, context, bytes);
      if (body !== null) return body;
    }
    if (!this.#isBelieved(keyId)) throw new Lacking({ keys: [keyId] });
    if (this.#isUnmade(keyId)) throw lostKey(keyId);
    return null;
  }

  /** The store knows nothing of it. One that is destroyed keeps its place there. */
  #isUnmade(keyId: string): boolean {
    const known = this.#known.get(keyId);
    return known !== undefined && !known.isFinal && !this.#proposed.has(keyId);
  }

  /** What may open under this id: the store's key, and the one proposed here. Errors: Lacking when neither is known. */
  #secretsOf(keyId: string): readonly Buffer[] {
    const proposed = this.#proposed.get(keyId);
    if (!this.#isBelieved(keyId)) {
      if (proposed === undefined) throw new Lacking({ keys: [keyId] });
      return [proposed];
    }
    return [this.#known.get(keyId)?.secret, proposed].filter((secret) => secret !== null && secret !== undefined);
  }

  #isOfAnother(keyId: string, tenant: string): boolean {
    const owner = this.#known.get(keyId)?.tenant ?? '';
    return owner !== '' && owner !== storableName(tenant);
  }

  #isBelieved(keyId: string): boolean {
    const known = this.#known.get(keyId);
    return (
      known !== undefined &&
      ((known.isFinal && known.secret === null) || this.options.now() - known.askedAt <= this.#believedMs)
    );
  }

  /** What is told late is as old as the question, and is believed for half its time at the least: who decides must come through. */
  #learn({ keyId, tenant, secret }: StoredKey, isFinal: boolean, asked: number): void {
    const askedAt = Math.max(asked, this.options.now() - this.#believedMs / 2);
    bounded(this.#known, keyId, { tenant, secret, isFinal, askedAt }, () => true);
    const scope = secret === null ? null : scopeOfFirst(keyId);
    if (scope !== null) bounded(this.#told, scope, keyId, () => true);
  }
}

/** What was sealed was sealed under a key that the store had (V1): it is the wrong one, or an older copy, and nothing was erased. */
function lostKey(keyId: string): Failure {
  return new Failure(
    'KEY_STORE_UNAVAILABLE',
    `the key store does not have the key ${keyId} that something on record is sealed under: it is another one than before, or an older copy of it; restore it, or correct RECOURSE_KEY_STORE_URL`,
  );
}

/** Sets an entry as the newest; the oldest that may go is let go when there are too many. */
function bounded<T>(map: Map<string, T>, id: string, value: T, mayGo: (value: T) => boolean): void {
  map.delete(id);
  if (map.size >= KEYS_MAX) {
    for (const [old, held] of map) {
      if (!mayGo(held)) continue;
      map.delete(old);
      break;
    }
  }
  map.set(id, value);
}

function followed({ hashes, all }: SealedPart, payload: PayloadDoc, sealed: PayloadDoc): PayloadDoc {
  const hash = payload.sha256.toString('latin1');
  hashes.set(hash, sealed.sha256);
  all.set(hash, sealed.sha256);
  return sealed;
}

function once<T extends object>(make: () => T): () => T {
  let made: T | null = null;
  return () => (made ??= make());
}
