import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readConfig } from '@recourse/config';
import { endpointsFile, readEndpoints } from './endpoints.config.js';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const CHAT = { name: 'chat', url: 'https://hooks.example.org/services/T0/B0/path', shape: 'slack', tenants: 'all' };
const DESK = {
  name: 'desk',
  url: 'https://desk.example.org/hook',
  shape: 'generic',
  secrets: [SECRET],
  tenants: ['acme'],
  kinds: ['approval', 'incident'],
  remind_before_ms: 3_600_000,
  tell_ends: true,
};

const codesOf = (file: unknown): readonly string[] => {
  const read = readEndpoints(typeof file === 'string' ? file : JSON.stringify(file));
  return read.ok ? [] : read.problems.map(({ code, path }) => `${code} ${path}`);
};

describe('the file of endpoints', () => {
  it('names who is told of what', () => {
    expect(readEndpoints(JSON.stringify({ endpoints: [CHAT, DESK] }))).toEqual({
      ok: true,
      endpoints: [
        {
          name: 'chat',
          url: CHAT.url,
          shape: 'slack',
          keys: [],
          tenants: null,
          kinds: null,
          remindBeforeMs: null,
          tellsEnds: false,
        },
        {
          name: 'desk',
          url: DESK.url,
          shape: 'generic',
          keys: [Buffer.alloc(32, 7)],
          tenants: ['acme'],
          kinds: ['approval', 'incident'],
          remindBeforeMs: 3_600_000,
          tellsEnds: true,
        },
      ],
    });
  });

  it('has every problem told at once, each with its code and place', () => {
    expect(
      codesOf({
        endpoints: [
          CHAT,
          { ...DESK, name: 'chat', url: 'http://desk.example.org' },
          { ...DESK, name: 'bare', secrets: [] },
          { ...DESK, name: 'old', url: 'https://asha:pw@desk.example.org', secrets: ['whsec_short', SECRET] },
        ],
      }),
    ).toEqual([
      'NAME_TWICE /endpoints/1/name',
      'URL_INSECURE /endpoints/1/url',
      'SECRET_MISSING /endpoints/2/secrets',
      'URL_INVALID /endpoints/3/url',
      'SECRET_INVALID /endpoints/3/secrets/0',
    ]);
  });

  it('has problems of shape told beside those of what the others say', () => {
    expect(
      codesOf({
        endpoints: [
          { ...CHAT, shape: 'pigeon', color: 'red' },
          { ...DESK, url: 'ftp://desk' },
        ],
      }),
    ).toEqual(['SHAPE_INVALID /endpoints/0/shape', 'SHAPE_INVALID /endpoints/0', 'URL_INVALID /endpoints/1/url']);
    expect([codesOf('{'), codesOf([])]).toEqual([['NOT_JSON /'], ['SHAPE_INVALID /']]);
  });

  it('takes plain HTTP to this machine alone, and only where it says so', () => {
    const at = (url: string, allow_loopback: boolean): readonly string[] =>
      codesOf({ allow_loopback, endpoints: [{ ...CHAT, url }] });
    expect([
      at('http://127.0.0.1:4000/x', true),
      at('http://[::1]:4000/x', true),
      at('http://localhost/x', true),
    ]).toEqual([[], [], []]);
    expect(
      [
        at('http://127.0.0.1:4000/x', false),
        at('http://127.0.0.1.example.org/x', true),
        at('http://10.0.0.1/x', true),
      ].flat(),
    ).toEqual(Array.from({ length: 3 }, () => 'URL_INSECURE /endpoints/0/url'));
  });

  it('is a variable whose problems stop the start, and never repeat a secret or an address', () => {
    const folder = mkdtempSync(join(tmpdir(), 'endpoints-'));
    const path = join(folder, 'webhooks.json');
    writeFileSync(
      path,
      JSON.stringify({ endpoints: [{ ...DESK, url: 'http://desk.example.org/s3cr3t', secrets: ['whsec_n0t-good'] }] }),
      { mode: 0o600 },
    );
    const read = readConfig(
      { endpoints: endpointsFile('RECOURSE_WEBHOOKS_FILE', { doc: 'Endpoints.' }) },
      { RECOURSE_WEBHOOKS_FILE: path },
    );
    rmSync(folder, { recursive: true });
    const message = read.ok ? '' : read.problems.map((one) => one.message).join();
    expect(message).toContain('URL_INSECURE at /endpoints/0/url');
    expect(message).toContain('SECRET_INVALID at /endpoints/0/secrets/0');
    expect(message).not.toMatch(/s3cr3t|n0t-good/);
  });
});
