// The fingerprint of a tool: what it is called with and what it does. How it is undone is outside (D7).
import { createHash } from 'node:crypto';
import { canonicalJson } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import type { Contract } from './shape.js';

/** Fields that make the tool another tool when they change. */
const TOOL_FIELDS = ['name', 'effect', 'impact', 'approval_mode', 'args_schema', 'result_schema'] as const;

/** SHA-256 over the tool itself, 64 hex digits; adding or changing a reversal leaves it as it is. */
export function toolFingerprint(contract: Contract): string {
  // Contracts are plain JSON data.
  const tool = Object.fromEntries(TOOL_FIELDS.map((field) => [field, contract[field] as Json]));
  return createHash('sha256').update(canonicalJson(tool), 'utf8').digest('hex');
}
