// What a person sees of a payload: its JSON, or that it cannot be read here. Pure.
import { PayloadUnreadable, readPayload } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Payload } from '@recourse/messages';
import { foldedJson } from './shown-text.js';
import type { Folded } from './shown-text.js';

/** JSON of a payload, folded where it is long, or its hash where it is sealed or unreadable. */
export type Shown = { readonly json: Json } | Folded | { readonly sealed_sha256: string };

export function shown(payload: Payload): Shown {
  const json = read(payload);
  return json === undefined ? { sealed_sha256: payload.sha256.toString('hex') } : foldedJson(json);
}

export function isUnreadable(payload: Payload): boolean {
  return read(payload) === undefined;
}

/** A sealed payload that was opened for its reader stands with its content beside it. */
type Opened = Payload & { readonly content?: Buffer };

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
