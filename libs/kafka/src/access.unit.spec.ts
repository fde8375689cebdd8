// As whom a program speaks to Kafka: by variables, with the password in a file.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { accessIn } from './access.js';

let folder = '';
const file = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-access-'));
  writeFileSync(file('password'), 'secret\n', { mode: 0o640 });
  writeFileSync(file('open'), 'secret\n');
  chmodSync(file('open'), 0o644);
  writeFileSync(file('ca.pem'), rootCertificates[0] ?? '');
  writeFileSync(file('key.pem'), '-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n');
  writeFileSync(file('torn.pem'), (rootCertificates[0] ?? '').slice(0, 200));
  writeFileSync(file('damaged.pem'), (rootCertificates[0] ?? '').replace(/M/g, 'N'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('the access of a program', () => {
  it('is nobody in clear text where nothing is said', () => {
    expect(accessIn({})).toEqual({});
    expect(accessIn({ RECOURSE_KAFKA_USER: '', RECOURSE_KAFKA_PASSWORD_FILE: '' })).toEqual({});
  });

  it('is a user with the password of a file, over SCRAM-SHA-512', () => {
    expect(accessIn({ RECOURSE_KAFKA_USER: 'agent', RECOURSE_KAFKA_PASSWORD_FILE: file('password') })).toEqual({
      sasl: { mechanism: 'scram-sha-512', username: 'agent', password: 'secret' },
    });
  });

  it('is refused with the password of a file that others may open, which it does not show', () => {
    const told = { RECOURSE_KAFKA_USER: 'agent', RECOURSE_KAFKA_PASSWORD_FILE: file('open') };
    const refused =
      /^CONFIG_INVALID: RECOURSE_KAFKA_PASSWORD_FILE names .*open: everybody on the machine may use the file \(mode 0644\)/;
    expect(() => accessIn(told)).toThrow(refused);
    expect(() => accessIn(told)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  it('speaks TLS where it is told who signs the brokers', () => {
    expect(accessIn({ RECOURSE_KAFKA_CA_FILE: file('ca.pem') })).toEqual({ ssl: { ca: rootCertificates[0] } });
  });

  it.each([
    { RECOURSE_KAFKA_USER: 'agent' },
    { RECOURSE_KAFKA_PASSWORD_FILE: 'password' },
    { RECOURSE_KAFKA_USER: 'agent', RECOURSE_KAFKA_PASSWORD_FILE: 'nowhere' },
    { RECOURSE_KAFKA_CA_FILE: 'nowhere' },
  ])('is refused where half of it is missing: %j', (said: Readonly<Record<string, string>>) => {
    const placed = Object.fromEntries(
      Object.entries(said).map(([name, value]) => [name, name.endsWith('_FILE') ? file(value) : value]),
    );
    expect(() => accessIn(placed)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });

  it.each(['password', 'key.pem', 'torn.pem', 'damaged.pem'])(
    'is refused where the file of certificates holds none that can be read: %s',
    (name) => {
      expect(() => accessIn({ RECOURSE_KAFKA_CA_FILE: file(name) })).toThrow(
        expect.objectContaining({
          code: 'CONFIG_INVALID',
          message: expect.stringMatching(/^CONFIG_INVALID: RECOURSE_KAFKA_CA_FILE\b/),
        }),
      );
    },
  );
});
