// Signed heads of made-up trees.
import { createHash } from 'node:crypto';
import { headText, noteSigner, noteText } from '@recourse/audit';
import type { SignedHead, TreeHead } from '@recourse/audit';
import { freshPem } from '../auditor.testing.js';

export const SIGNER = noteSigner('auditor.spec', 'log', freshPem());

/** A head of this many records; `mark` makes it differ from another of as many. */
export function headOf(
  size: number,
  { mark = '', ...of }: Partial<TreeHead> & { readonly mark?: string } = {},
): SignedHead {
  const root = createHash('sha256').update(`${mark}${size}`).digest();
  const place = { logId: 'log-1', topic: 'recourse.budgets', partition: 0, generation: 0 };
  const head = { ...place, size, root, head: root, nextOffset: size, firstOffset: 0, signedAt: size, ...of };
  const text = headText(head);
  return { ...head, note: noteText({ text, signatures: [SIGNER.sign(text, 0)] }) };
}
