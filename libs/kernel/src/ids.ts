// Ids are derived from their cause, never random (L1).
import { hash } from 'node:crypto';

/**
 * Derives a stable id from named parts.
 *
 * Shape:  `<prefix>_<32 hex digits>`; parts are length-prefixed so that no two lists collide.
 * Source: L1.
 */
export function deriveId(prefix: string, ...parts: readonly (string | number)[]): string {
  return `${prefix}_${sha256Hex(joined(parts)).slice(0, 32)}`;
}

/** SHA-256 of text or bytes, as 64 hex digits. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data, 'hex');
}

function joined(parts: readonly (string | number)[]): string {
  let all = '';
  for (const part of parts) {
    const text = String(part);
    all += `${text.length}:${text}`;
  }
  return all;
}
