import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logIdIn, makeOnce, secretIn, signingKeyOf } from './secrets.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-secrets-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('a secret of a development stack', () => {
  it('is made once, for its owner alone, and leaves nothing beside it', () => {
    const made = secretIn(folder, 'edge.key');
    expect(made).toMatch(/^[0-9a-f]{64}$/u);
    expect(secretIn(folder, 'edge.key')).toBe(made);
    expect(readdirSync(folder)).toEqual(['edge.key']);
    expect((statSync(join(folder, 'edge.key')).mode & 0o777).toString(8)).toBe('600');
  });

  it('is none where a start that was ended left its file empty: no stack runs on a secret of nothing', () => {
    writeFileSync(join(folder, 'log.id'), '');
    writeFileSync(join(folder, 'edge.key'), '\n');
    mkdirSync(join(folder, 'keys'));
    writeFileSync(join(folder, 'keys', 'auditor.pem'), '');
    expect(logIdIn(folder)).toMatch(/^dev-[0-9a-f]{16}$/u);
    expect(secretIn(folder, 'edge.key')).toMatch(/^[0-9a-f]{64}$/u);
    expect(readFileSync(signingKeyOf(folder, 'auditor'), 'utf8')).toContain('PRIVATE KEY');
  });

  it('is one for two starts at one moment: whoever is second keeps what the first made', () => {
    const path = join(folder, 'edge.key');
    makeOnce(path, () => {
      makeOnce(path, () => 'of the first');
      return 'of the second';
    });
    expect(readFileSync(path, 'utf8')).toBe('of the first');
    expect(readdirSync(folder)).toEqual(['edge.key']);
  });
});
