// How the loop seals payloads on their way into a log, and opens them for a decision or for a message that leaves.
//
// Invariants
//   S1. What is appended to a log holds no payload in the clear; rows and derived logs follow, since they are made of records.
//   S2. The key is durable before the append (docs/design/topics.md).
//   S3. evolve needs no key: a rebuild folds sealed payloads as they are.
import { Lacking } from '../lacks.js';
import type { Doc, SealScope, StateView } from '../service-core.js';

/** The sealing of one batch that is being decided. */
export interface BatchSealing {
  /** The body with each plain payload sealed; a payload that was opened goes back to what it was. The scope is asked for where one is new, by the element of `members` it is in. Errors: those of `scopeOf`. */
  seal(body: Doc, scopeOf: (member: Doc | null) => SealScope): Doc;
  sealBytes(bytes: Buffer, scope: SealScope): { readonly keyId: string; readonly body: Buffer };
  /** Notes the keys that sealing the body would take, without sealing it; null: whose it is cannot be told yet. */
  foresee(body: Doc, scopeOf: (member: Doc | null) => SealScope | null): void;
  /** Makes the keys durable that were used or foreseen so far, beside other work; `settle` says what came of it. Errors: Failure(KEY_STORE_UNAVAILABLE). */
  prepare(): Promise<void>;
  /** Makes the keys that were used durable. False: somebody else's stand, decide anew. Errors: Failure(KEY_STORE_UNAVAILABLE). */
  settle(): Promise<boolean>;
}

export interface Sealing {
  /** Begins a batch; `now` is database time, epoch milliseconds. */
  batch(now: number): BatchSealing;
  /** The doc with each sealed payload opened, as far as its key was not destroyed. Errors: Lacking. */
  open(doc: Doc): Doc;
  /** The doc with payloads that open when they are used, at most once; one whose key was destroyed stays sealed. Their members throw Lacking outside of `using`. */
  openOnUse(doc: Doc): Doc;
  /**
   * Decides over docs of `openOnUse`.
   *
   * Shape:  a payload whose key is not here stays sealed meanwhile, whatever the decider makes of that: with `lacked`, what was
   *         decided is worth nothing.
   * Errors: what `decide` throws; Lacking in its place when keys were lacked.
   */
  using<T>(decide: () => T): { readonly decided: T; readonly lacked: readonly string[] };
  /** The doc with the content of each sealed payload beside its sealed bytes, for people; hashes stay those of the log. Errors: Lacking. */
  show(doc: Doc): Doc;
  /** Null when the key was destroyed, or the bytes were sealed under another. Errors: Lacking. */
  openBytes(keyId: string, body: Buffer): Buffer | null;
  /** Brings keys into memory; anew: also those that are believed, which may be destroyed by now. Errors: Failure(KEY_STORE_UNAVAILABLE). */
  load(keyIds: readonly string[], isAnew?: boolean): Promise<void>;
}

/** Docs as people may see them, with one question for their keys; anew: whatever is believed. Errors: Failure(KEY_STORE_UNAVAILABLE). */
export async function showLoaded(sealing: Sealing, docs: readonly Doc[], isAnew = false): Promise<readonly Doc[]> {
  if (isAnew) await sealing.load(sealedUnder(docs), true);
  return withKeys(sealing, sealedUnder(docs), () => docs.map((doc) => sealing.show(doc)));
}

/** Opens a doc, loading the keys it needs. Errors: Failure(KEY_STORE_UNAVAILABLE). */
export function openLoaded(sealing: Sealing, doc: Doc): Promise<Doc> {
  return withKeys(sealing, sealedUnder(doc), () => sealing.open(doc));
}

/** Opens bytes; null when their key was destroyed. Errors: Failure(KEY_STORE_UNAVAILABLE). */
export function openBytesLoaded(sealing: Sealing, keyId: string, body: Buffer): Promise<Buffer | null> {
  return withKeys(sealing, [keyId], () => sealing.openBytes(keyId, body));
}

/** A key may cease to be believed between its loading and its use: then it is loaded again. */
async function withKeys<T>(sealing: Sealing, keyIds: readonly string[], use: () => T): Promise<T> {
  for (;;) {
    await sealing.load(keyIds);
    try {
      return use();
    } catch (cause) {
      if (!(cause instanceof Lacking)) throw cause;
    }
  }
}

/** Ids of the keys under which a doc's payloads are sealed. */
export function sealedUnder(value: unknown): readonly string[] {
  const found = new Set<string>();
  collect(value, found);
  return [...found];
}

function collect(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (Array.isArray(value)) {
    for (const one of value) collect(one, into);
    return;
  }
  if (isPayload(value)) {
    if (value.encoding === 'sealed' && value.key_id !== null) into.add(value.key_id);
    return;
  }
  const members = value as Readonly<Record<string, unknown>>; // any object can be read by name
  for (const name in members) collect(members[name], into);
}

export function isPayload(value: object): value is PayloadDoc {
  if (isOpening(value)) return true;
  return 'encoding' in value && 'sha256' in value && 'body' in value && value.body instanceof Uint8Array;
}

// A payload that opens when its bytes are used, and looks like any other: plain data to whoever compares or copies it.
//
// Boundary: asks for itself each time a member is read; what it is then is the vault's to say and to remember.
/** A payload as schemas/common/Payload.avsc has it. */
export interface PayloadDoc {
  readonly content_type: string;
  readonly encoding: string;
  readonly key_id: string | null;
  readonly body: Buffer;
  readonly sha256: Buffer;
  /** What sealed bytes hold, where it is shown. */
  readonly content?: Buffer;
  /** Where it is not shown: the roles it would be shown to. */
  readonly opens_with?: readonly string[];
}

/** A payload whose members are those that `asUsed` has at the time they are read. */
class OpeningPayload implements PayloadDoc {
  readonly content_type: string;
  readonly #sealed: PayloadDoc;
  readonly #asUsed: () => PayloadDoc;

  constructor(sealed: PayloadDoc, asUsed: () => PayloadDoc) {
    this.content_type = sealed.content_type;
    this.#sealed = sealed;
    this.#asUsed = asUsed;
  }

  get encoding(): string {
    return this.#asUsed().encoding;
  }

  get key_id(): string | null {
    return this.#asUsed().key_id;
  }

  get body(): Buffer {
    return this.#asUsed().body;
  }

  get sha256(): Buffer {
    return this.#asUsed().sha256;
  }

  /** Undefined for what is no payload that opens on use. */
  static storedOf(value: object): PayloadDoc | undefined {
    return #sealed in value ? value.#sealed : undefined;
  }
}

/** Is it a payload that need not be opened to know that it is one? */
function isOpening(value: object): value is PayloadDoc {
  return value instanceof OpeningPayload;
}

/** The document as it is stored where it is a payload that opens on use: to look at that opens nothing. */
export function asStored(value: object): object {
  return OpeningPayload.storedOf(value) ?? value;
}

/** A payload that opens on use. */
export function openingPayload(sealed: PayloadDoc, asUsed: () => PayloadDoc): PayloadDoc {
  return new OpeningPayload(sealed, asUsed);
}

// State as a decider sees it: rows with payloads that open when they are used.

/** Errors: Lacking, for cold rows. */
export class OpenedState implements StateView {
  constructor(
    private readonly rows: StateView,
    private readonly sealing: Pick<Sealing, 'openOnUse'>,
  ) {}

  get(kind: string, group: string, key: string): Doc | undefined {
    const doc = this.rows.get(kind, group, key);
    return doc === undefined ? undefined : this.sealing.openOnUse(doc);
  }

  stored(kind: string, group: string, key: string): Doc | undefined {
    return this.rows.stored(kind, group, key);
  }

  list(kind: string, group: string): readonly Doc[] {
    return this.rows.list(kind, group).map((doc) => this.sealing.openOnUse(doc));
  }

  all(kind: string, group: string): readonly Doc[] {
    return this.rows.all(kind, group).map((doc) => this.sealing.openOnUse(doc));
  }

  *lastFirst(kind: string, group: string, below: number | null): Generator<Doc> {
    for (const doc of this.rows.lastFirst(kind, group, below)) yield this.sealing.openOnUse(doc);
  }
}
