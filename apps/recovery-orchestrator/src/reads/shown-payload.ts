// What a person sees of a payload: its JSON, or that it cannot be read here. Pure.
import { PayloadUnreadable, readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Payload } from '@recourse/messages';
import { foldedJson } from './shown-text.js';
import type { Folded } from './shown-text.js';

/** JSON of a payload, folded where it is long, or its hash where it is sealed or unreadable: with who opens it, where somebody does. */
export type Shown =
  { readonly json: Json } | Folded | { readonly sealed_sha256: string; readonly opens_with?: readonly string[] };

export function shown(payload: Payload): Shown {
  const json = read(payload);
  if (json !== undefined) return foldedJson(json);
  const { sha256, opens_with }: Opened = payload;
  return { sealed_sha256: sha256.toString('hex'), ...(opens_with === undefined ? {} : { opens_with }) };
}

/** Nobody reads it any more; what stays sealed for one reader others can read. */
export function isUnreadable(payload: Opened): boolean {
  return read(payload) === undefined && payload.opens_with === undefined;
}

/** It stays sealed for this reader. */
export function isSealedForReader({ opens_with }: Opened): boolean {
  return opens_with !== undefined;
}

/** A sealed payload stands with its content beside it where it was opened for its reader, else with who opens it. */
type Opened = Payload & { readonly content?: Buffer; readonly opens_with?: readonly string[] };

function read(payload: Opened): Json | undefined {
  try {
    return payload.content === undefined
      ? readPayload(payload)
      : (JSON.parse(payload.content.toString('utf8')) as Json);
  } catch (cause) {
    if (cause instanceof PayloadUnreadable || cause instanceof SyntaxError) return undefined;
    throw cause;
  }
}
