import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { headText, noteSigner, noteText } from '@recourse/audit';
import { foundIn, uncovered } from './auditing.js';

const pem = (): string => generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const auditor = noteSigner('auditor', 'log', pem());
const witness = noteSigner('witness', 'witness', pem());

function headOf(size: number, signers = [auditor, witness]): string {
  const text = headText({
    logId: 'demo',
    topic: 'recourse.mutations',
    partition: 0,
    generation: 0,
    size,
    root: Buffer.alloc(32),
    head: Buffer.alloc(32),
    nextOffset: size,
    firstOffset: 0,
    signedAt: 1,
  });
  return `${noteText({ text, signatures: signers.map((signer) => signer.sign(text, 1)) })}\n`;
}
const lengths = [{ topic: 'recourse.mutations', partition: 0, accepted: 7 }];
const keys = [auditor.key, witness.key] as const;

describe('the logs of a story', () => {
  it('are covered by a head of their length that auditor and witness signed', () => {
    expect(uncovered(lengths, headOf(3) + headOf(7), keys)).toEqual([]);
  });

  it('are not covered by a head that ends before them, nor by none', () => {
    expect(uncovered(lengths, headOf(6), keys)).toEqual(['recourse.mutations/0']);
    expect(uncovered(lengths, '', keys)).toEqual(['recourse.mutations/0']);
  });

  it('are not covered by a head that the witness did not sign', () => {
    expect(uncovered(lengths, headOf(3) + headOf(7, [auditor]), keys)).toEqual(['recourse.mutations/0']);
  });

  it('are covered where there is nothing in them', () => {
    expect(uncovered([{ topic: 'recourse.budgets', partition: 1, accepted: 0 }], '', keys)).toEqual([]);
  });
});

describe('logs that do not verify', () => {
  it('are told by what was found, log by log, and not by the whole report', () => {
    const sound = { topic: 'recourse.budgets', partition: 0, head_hash: 'ab', findings: [] };
    const cut = { ...sound, topic: 'recourse.mutations', findings: [{ kind: 'cut_tail', message: 'it was cut' }] };
    const stdout = JSON.stringify({ ok: false, partitions: [sound, cut] });
    expect(foundIn({ stdout, stderr: '' })).toBe('recourse.mutations/0: it was cut');
  });

  it('are told by what was said where nothing could be read', () => {
    expect(foundIn({ stdout: '', stderr: 'BROKER_UNAVAILABLE: nobody answers\n' })).toBe(
      'BROKER_UNAVAILABLE: nobody answers',
    );
  });
});
