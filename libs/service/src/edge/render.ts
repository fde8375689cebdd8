// Docs as people read them: bytes as hex, payloads as the JSON they hold (sealed ones where they were opened for the reader, else who opens them), everything else as it stands.

import type { Payload } from '@recourse/messages';

/** A payload as people read it. */
export interface ShownPayload extends Omit<Rendered<Omit<Payload, 'body'>>, 'sha256'> {
  /** JSON or text; hex of the sealed bytes where nobody opened them, null where `opens_with` says who may. */
  readonly body: unknown;
  /** Hex of the SHA-256 of the bytes as stored. */
  readonly sha256: string;
  /** Roles that open it; absent of what is open or has no key any more. */
  readonly opens_with?: readonly string[];
}

/** A value as it is rendered: what routes answer, and what the OpenAPI documents tell of it, follows from types like these. */
export type Rendered<Value> = Value extends Uint8Array
  ? string
  : Value extends Payload
    ? ShownPayload
    : Value extends readonly (infer Of)[]
      ? readonly Rendered<Of>[]
      : Value extends object
        ? RenderedMembers<Value>
        : Value;

/** Scripts that tell of types go by the name of this one. */
type RenderedMembers<Value> = { readonly [Name in keyof Value]: Rendered<Value[Name]> };

/** Renders a doc as JSON. Pure. */
export function render<Value>(value: Value): Rendered<Value> {
  return rendered(value) as Rendered<Value>; // as the type says, branch by branch
}

function rendered(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
  if (Array.isArray(value)) return value.map(rendered);
  const { content_type, encoding, body, content, ...rest } = value as Readonly<Record<string, unknown>>;
  if (typeof encoding === 'string' && Buffer.isBuffer(body))
    return {
      content_type,
      encoding,
      ...renderMembers(rest),
      body: Buffer.isBuffer(content)
        ? renderBody('plain', content_type, content)
        : 'opens_with' in rest
          ? null
          : renderBody(encoding, content_type, body),
    };
  return renderMembers(value);
}

function renderMembers(value: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, rendered(member)]));
}

/** Sealed bytes stay bytes; a plain body that is no JSON after all is shown as text. */
function renderBody(encoding: string, contentType: unknown, body: Buffer): unknown {
  if (encoding !== 'plain') return body.toString('hex');
  const text = body.toString('utf8');
  if (typeof contentType !== 'string' || !contentType.includes('json')) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
