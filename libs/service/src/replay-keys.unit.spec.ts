// Whom a replaying process believes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { testKeys } from '@recourse/kafka';
import { signingTold } from './replay-keys.js';

const keys = testKeys({ 'budget-accountant': { role: 'service', names: ['budget-accountant'] } });
const folder = mkdtempSync(join(tmpdir(), 'recourse-replay-told-'));
const keyring = join(folder, 'keyring.json');
writeFileSync(keyring, keys.text);
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a process that reads logs for the command line', () => {
  it('believes the keyring it is told, and signs nothing', () => {
    const signing = signingTold({ wires: 'strict', keyring_file: keyring });
    expect(signing?.signer).toBeNull();
    expect([...(signing?.keyring().keys() ?? [])]).toEqual([...keys.keyring.keys()]);
  });

  it('believes everybody where it is told that wires are open', () => {
    expect(signingTold({ wires: 'open', keyring_file: null })).toBeNull();
  });

  it.each([[null], [join(folder, 'nowhere.json')]])(
    'reads nothing where wires are strict and the keyring is %s',
    (file) => {
      expect(() => signingTold({ wires: 'strict', keyring_file: file })).toThrow(
        expect.objectContaining({ code: 'KEYRING_INVALID' }),
      );
    },
  );
});
