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

/** Those there are, and what each was sealed. */
const OPENING = new WeakMap<object, PayloadDoc>();

/** Is it a payload that need not be opened to know that it is one? */
export function isOpening(value: object): value is PayloadDoc {
  return OPENING.has(value);
}

/** The document as it is stored where it is a payload that opens on use: to look at that opens nothing. */
export function asStored(value: object): object {
  return OPENING.get(value) ?? value;
}

/** A payload whose members are those that `asUsed` has at the time they are read; a copy of it has them as they were then. */
export function openingPayload(sealed: PayloadDoc, asUsed: () => PayloadDoc): PayloadDoc {
  const opening: PayloadDoc = {
    content_type: sealed.content_type,
    get encoding() {
      return asUsed().encoding;
    },
    get key_id() {
      return asUsed().key_id;
    },
    get body() {
      return asUsed().body;
    },
    get sha256() {
      return asUsed().sha256;
    },
  };
  OPENING.set(opening, sealed);
  return opening;
}
