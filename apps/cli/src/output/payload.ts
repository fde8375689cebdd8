// What a payload holds, as people read it.
import { docOf } from '@recourse/sdk';
import { cellText } from './table.js';

/** Sealed bytes as the service shows them: hex of nonce, tag and text, so never shorter. A payload that was opened for the reader has its JSON in their place. */
const SEALED = /^(?:[0-9a-f]{2}){28,}$/;

/** What stayed sealed, and whose role opens it. */
export function sealedText(sha256: unknown, openers: readonly unknown[] = []): string {
  if (openers.length === 0) return `erased, nobody opens it any more, sha256 ${cellText(sha256)}`;
  return `sealed (opened by ${openers.map((role) => cellText(role)).join(', ')}), sha256 ${cellText(sha256)}`;
}

/** Whether a payload stayed sealed: others open it, or nobody does any more. */
export function isClosed(value: unknown): boolean {
  const { encoding, body, opens_with: openers } = docOf(value);
  if (Array.isArray(openers)) return true;
  return encoding !== undefined && encoding !== 'plain' && typeof body === 'string' && SEALED.test(body);
}

/** What a payload holds; one that stayed sealed says so. */
export function payload(value: unknown): unknown {
  const { body, sha256, opens_with: openers } = docOf(value);
  return isClosed(value) ? sealedText(sha256, Array.isArray(openers) ? openers : []) : body;
}
