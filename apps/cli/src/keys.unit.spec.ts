import { describe, expect, it } from '@jest/globals';
import { chmodSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseKeyring, signerOf, speakerOf } from '@recourse/kernel';
import { desk, table } from './desk.testing.js';

const at = desk(table({}));
const folder = mkdtempSync(join(tmpdir(), 'keys-'));
const inFolder = (name: string): string => join(folder, name);

describe('recourse keys', () => {
  it('makes a key whose entry a keyring takes, and which speaks for whom it says', async () => {
    const out = inFolder('crm.pem');
    const call = [
      'keys',
      'new',
      'crm-1',
      '--speaks-as',
      'source',
      '--names',
      'crm,erp',
      '--tenants',
      'acme',
      '--out',
      out,
    ];
    expect(await at.call(...call, '--json')).toBe(0);
    const { entry } = JSON.parse(at.out()) as { readonly entry: object };
    const ring = parseKeyring(JSON.stringify({ keys: [entry] }));
    const signature = signerOf('crm-1', readFileSync(out, 'utf8')).sign('text');
    expect(speakerOf(ring, { keyId: 'crm-1', text: 'text', signature, signedAt: 0 })).toMatchObject({
      roles: ['source'],
      names: ['crm', 'erp'],
      tenants: ['acme'],
    });
    expect(statSync(out).mode & 0o777).toBe(0o600);
  });

  it('overwrites no key', async () => {
    const out = inFolder('there.pem');
    writeFileSync(out, 'a key');
    expect(await at.call('keys', 'new', 'crm-1', '--speaks-as', 'source', '--out', out)).toBe(64);
    expect(readFileSync(out, 'utf8')).toBe('a key');
    expect(at.note()).toContain('KEY_NOT_WRITTEN');
  });

  it.each([
    ['a role nobody has', ['crm-1', '--speaks-as', 'root']],
    ['an id with a blank', ['crm 1', '--speaks-as', 'source']],
    ['a name that is empty', ['crm-1', '--speaks-as', 'source', '--names', 'a,,b']],
    ['an instant that is none', ['crm-1', '--speaks-as', 'source', '--valid-until', 'soon']],
  ])('makes no key for %s', async (what, given) => {
    const out = inFolder(`${what.replaceAll(' ', '-')}.pem`);
    expect(await at.call('keys', 'new', ...given, '--out', out)).toBe(64);
    expect(() => statSync(out)).toThrow('ENOENT');
  });

  it('says where a keyring is wrong', async () => {
    const file = inFolder('keyring.json');
    writeFileSync(file, '{"keys": [{"id": "a", "speaks_as": "source"}]}');
    expect(await at.call('keys', 'check', file)).toBe(64);
    expect(at.note()).toContain('KEYRING_INVALID: /keys/0/names must be');
    expect(await at.call('keys', 'check', inFolder('none.json'))).toBe(64);
    expect(at.note()).toMatch(/FILE_UNREADABLE: .*none\.json cannot be read/);
  });

  it('says of a keyring that everybody may change what every process says of it', async () => {
    const file = inFolder('open.json');
    writeFileSync(file, '{"keys": []}');
    chmodSync(file, 0o666);
    expect(await at.call('keys', 'check', file)).toBe(64);
    expect(at.note()).toContain(
      `KEYRING_INVALID: everybody on the machine may change the file (mode 0666): chmod o-w ${file}`,
    );
    chmodSync(file, 0o644);
    expect(await at.call('keys', 'check', file)).toBe(0);
  });
});
