// Docs as people read them: bytes as hex, payloads as the JSON they hold (sealed ones where they were opened for the reader, else who opens them), everything else as it stands.

/** Renders a doc as JSON. Pure. */
export function render(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
  if (Array.isArray(value)) return value.map(render);
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
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, render(member)]));
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
