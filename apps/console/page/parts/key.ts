// The key under which a window sends its command.

const BYTES = 16;

/** Drawn anew each time. `crypto.randomUUID` is not there over plain http, where consoles in a closed network are. */
export function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(BYTES))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
