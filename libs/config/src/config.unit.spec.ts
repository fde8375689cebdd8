import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { ConfigInvalid, describeConfig, loadConfig, readConfig } from './config.js';
import {
  databaseUrl,
  file,
  hostPort,
  hostPorts,
  integer,
  networks,
  oneOf,
  optional,
  passwordFile,
  port,
  secretFile,
  secretPath,
  secretText,
  text,
  url,
  withPassword,
} from './variable.js';

const folder = mkdtempSync(join(tmpdir(), 'recourse-config-'));
const keyFile = join(folder, 'key');
const shortFile = join(folder, 'short');
writeFileSync(keyFile, `${'ab'.repeat(32)}\n`, { mode: 0o600 });
writeFileSync(shortFile, 'too short', { mode: 0o600 });
afterAll(() => {
  rmSync(folder, { recursive: true });
});

const SPEC = {
  brokers: hostPorts('RECOURSE_BROKERS', { doc: 'Brokers.' }),
  registry: url('RECOURSE_REGISTRY', { doc: 'Registry.', protocols: ['http:', 'https:'] }),
  httpPort: port('RECOURSE_PORT', { doc: 'Port.', fallback: '0' }),
  patienceMs: integer('RECOURSE_PATIENCE_MS', {
    doc: 'Patience.',
    min: 10,
    max: 60_000,
    unit: 'milliseconds',
    fallback: '10000',
  }),
  mode: oneOf('RECOURSE_MODE', ['strict', 'open'], { doc: 'Mode.', fallback: 'open' }),
  key: secretFile('RECOURSE_KEY_FILE', { doc: 'Key.' }),
  note: optional(text('RECOURSE_NOTE', { doc: 'Note, a | b.' })),
};
const GOOD = {
  RECOURSE_BROKERS: '127.0.0.1:9092, kafka:9093',
  RECOURSE_REGISTRY: 'http://127.0.0.1:8080/apis',
  RECOURSE_KEY_FILE: keyFile,
  PATH: '/bin',
};

describe('a configuration', () => {
  it('is plain data, with defaults, and with the content of secret files', () => {
    expect(loadConfig(SPEC, GOOD)).toEqual({
      brokers: ['127.0.0.1:9092', 'kafka:9093'],
      registry: 'http://127.0.0.1:8080/apis',
      httpPort: 0,
      patienceMs: 10_000,
      mode: 'open',
      key: Buffer.alloc(32, 0xab),
      note: undefined,
    });
  });

  it('reports every problem at once, with variable, value, range and unit', () => {
    const read = readConfig(SPEC, {
      RECOURSE_BROKERS: 'nobody',
      RECOURSE_REGISTRY: 'ftp://x',
      RECOURSE_PORT: '70000',
      RECOURSE_PATIENCE_MS: '5s',
      RECOURSE_MODE: 'lax',
      RECOURSE_KEY_FILE: join(folder, 'gone'),
      RECOURSE_PATIENCE: '1',
      RECOURSE_NOTE: '',
    });
    const problems = read.ok ? [] : read.problems;
    expect(problems.map(({ code, variable }) => `${code} ${variable}`)).toEqual([
      'INVALID RECOURSE_BROKERS',
      'INVALID RECOURSE_REGISTRY',
      'INVALID RECOURSE_PORT',
      'INVALID RECOURSE_PATIENCE_MS',
      'INVALID RECOURSE_MODE',
      'UNREADABLE RECOURSE_KEY_FILE',
      'UNKNOWN RECOURSE_PATIENCE',
    ]);
    expect(problems[3]).toMatchObject({ value: '5s', range: 'a whole number, 10 to 60000', unit: 'milliseconds' });
  });

  it('starts with a variable it does not know, and warns of it', () => {
    const warned: string[] = [];
    const given = { ...GOOD, RECOURSE_DATA_DIR: '/data', RECOURSE_TEST_STACK: '1' };
    const config = loadConfig(SPEC, given, [], ({ code, message }) => warned.push(`${code} ${message}`));
    expect(config.brokers).toHaveLength(2);
    expect(warned).toEqual([
      expect.stringMatching(/^UNKNOWN RECOURSE_DATA_DIR is no variable of this program .* known are .*RECOURSE_PORT/),
    ]);
  });

  it('refuses a key that is too short and what is missing', () => {
    expect(() => loadConfig(SPEC, { ...GOOD, RECOURSE_KEY_FILE: shortFile, RECOURSE_BROKERS: '' })).toThrow(
      ConfigInvalid,
    );
    const read = readConfig(SPEC, { ...GOOD, RECOURSE_KEY_FILE: shortFile, RECOURSE_BROKERS: '' });
    expect(read.ok ? [] : read.problems.map(({ code }) => code)).toEqual(['MISSING', 'INVALID']);
  });

  it.each([
    ['that others may read', 0o644, 'EXPOSED'],
    ['that others may write', 0o602, 'EXPOSED'],
    ['that is a folder', null, 'UNREADABLE'],
    ['of its owner and group', 0o440, 'taken'],
    ['of its owner', 0o400, 'taken'],
  ] as const)('with a secret in a file %s is judged by the file, whatever it holds', (_what, mode, expected) => {
    const spec = {
      key: secretFile('RECOURSE_KEY_FILE', { doc: 'Key.' }),
      password: passwordFile('RECOURSE_PASSWORD_FILE', { doc: 'Password.' }),
      place: secretPath('RECOURSE_PLACE_FILE', { doc: 'Place.' }),
    };
    const path = mode === null ? folder : join(folder, `secret-${mode.toString(8)}`);
    if (mode !== null) {
      writeFileSync(path, 'cd'.repeat(32));
      chmodSync(path, mode);
    }
    const read = readConfig(spec, {
      RECOURSE_KEY_FILE: path,
      RECOURSE_PASSWORD_FILE: path,
      RECOURSE_PLACE_FILE: path,
    });
    const codes = read.ok ? ['taken', 'taken', 'taken'] : read.problems.map(({ code }) => code);
    expect(codes).toEqual([expected, expected, expected]);
    if (read.ok) expect(read.config.place).toBe(path);
    if (!read.ok) for (const { message } of read.problems) expect(message).not.toContain('cdcd');
  });

  it.each([
    ['a slash', 'postgres://recourse:q7/Zk2+hidden=@db:5432/recourse', 'postgres://…@db:5432/recourse'],
    ['an at sign', 'postgres://recourse:hidden@hidden@db:5432x/recourse', 'postgres://…@db:5432x/recourse'],
    ['no scheme before it', 'recourse:hidden@db:5432/recourse', '…@db:5432/recourse'],
  ])('shows no password of an address, also one with %s', (_what, address, shown) => {
    const spec = { database: url('RECOURSE_DATABASE', { doc: 'Database.', protocols: ['https:'] }) };
    const rules = [{ fields: ['database'] as const, doc: 'never holds.', holds: () => false }];
    const read = readConfig(spec, { RECOURSE_DATABASE: address });
    const conflict = readConfig(
      { database: text('RECOURSE_DATABASE', { doc: '' }) },
      { RECOURSE_DATABASE: address },
      rules,
    );
    for (const each of [read, conflict]) {
      const problems = each.ok ? [] : each.problems;
      expect(problems).toEqual([expect.objectContaining({ value: shown })]);
      expect(JSON.stringify(problems)).not.toContain('hidden');
    }
  });

  it.each([
    ['a user', 'http://svc@registry:8080/apis'],
    ['a password', 'https://:hidden@registry:8080/apis'],
    ['both', 'http://svc:hidden@registry:8080/apis'],
  ])(
    'refuses an address of HTTP with %s, which nobody would be sent and everybody told, and does not show it',
    (_what, address) => {
      const read = readConfig(SPEC, { ...GOOD, RECOURSE_REGISTRY: address });
      const problems = read.ok ? [] : read.problems;
      expect(problems).toEqual([
        expect.objectContaining({
          code: 'INVALID',
          value: expect.stringMatching(/^https?:\/\/…@registry:8080\/apis$/),
          message: expect.stringContaining('(it carries a user or a password)'),
        }),
      ]);
      expect(JSON.stringify(problems)).not.toMatch(/svc|hidden/);
    },
  );

  it.each(['http://r ', ' http://r', 'http://r\n'])('refuses an address with blanks around it: %j', (address) => {
    const read = readConfig(SPEC, { ...GOOD, RECOURSE_REGISTRY: address });
    expect(read.ok ? [] : read.problems.map(({ code, message }) => [code, message])).toEqual([
      ['INVALID', expect.stringContaining('there are blanks around it')],
    ]);
  });

  it('takes an address of a database with its user and password', () => {
    const spec = { database: url('RECOURSE_DATABASE', { doc: 'Database.', protocols: ['postgres:'] }) };
    const database = 'postgres://ledger:secret@db:5432/ledger';
    expect(loadConfig(spec, { RECOURSE_DATABASE: database })).toEqual({ database });
  });

  it.each(['prod ', ' prod', 'prod\n', '\tprod', '\u00a0prod', ' '])(
    'refuses a text with blanks around it: %j',
    (note) => {
      const read = readConfig(SPEC, { ...GOOD, RECOURSE_NOTE: note });
      expect(read.ok ? [] : read.problems.map(({ code, message }) => [code, message])).toEqual([
        ['INVALID', expect.stringContaining('there are blanks around it')],
      ]);
      expect(loadConfig(SPEC, { ...GOOD, RECOURSE_NOTE: 'a prod' }).note).toBe('a prod');
    },
  );

  it.each(['kafka', 'kafka:', 'kafka:0', 'tcp://kafka:9092', 'a:9092,b:9092', 'kafka:9092 '])(
    'refuses a place that is none, or several: %s',
    (via) => {
      const spec = { via: hostPort('RECOURSE_VIA', { doc: 'Via.' }) };
      const read = readConfig(spec, { RECOURSE_VIA: via });
      expect(read.ok ? [] : read.problems.map(({ code, variable }) => [code, variable])).toEqual([
        ['INVALID', 'RECOURSE_VIA'],
      ]);
      expect(loadConfig(spec, { RECOURSE_VIA: '[::1]:9092' }).via).toBe('[::1]:9092');
    },
  );

  it.each(['kafka:0', 'kafka:65536', 'kafka:99999', 'a:9092,b:70000'])(
    'refuses a port that none has: %s',
    (brokers) => {
      const read = readConfig(SPEC, { ...GOOD, RECOURSE_BROKERS: brokers });
      expect(read.ok ? [] : read.problems.map(({ code, variable }) => [code, variable])).toEqual([
        ['INVALID', 'RECOURSE_BROKERS'],
      ]);
      expect(loadConfig(SPEC, { ...GOOD, RECOURSE_BROKERS: 'a:1,b:65535' }).brokers).toEqual(['a:1', 'b:65535']);
    },
  );

  it.each(['', '\n', ' \n'])('refuses a file that holds no password: %j', (content) => {
    const path = join(folder, 'no-password');
    writeFileSync(path, content, { mode: 0o600 });
    const spec = { password: optional(passwordFile('RECOURSE_PASSWORD_FILE', { doc: 'Password.' })) };
    const read = readConfig(spec, { RECOURSE_PASSWORD_FILE: path });
    expect(read.ok ? [] : read.problems.map(({ code, message }) => [code, message])).toEqual([
      ['INVALID', expect.stringContaining('(the file holds no password)')],
    ]);
  });

  it.each(['application_name', 'statement_timeout', 'lock_timeout', 'query_timeout', 'options'])(
    'refuses an address of a database that says %s in place of the program',
    (parameter) => {
      const spec = { database: databaseUrl('RECOURSE_DATABASE', { doc: 'Database.' }) };
      const address = 'postgres://ledger@db/ledger?sslmode=verify-full';
      const read = readConfig(spec, { RECOURSE_DATABASE: `${address}&${parameter}=1` });
      expect(read.ok ? [] : read.problems.map(({ code, message }) => [code, message])).toEqual([
        ['INVALID', expect.stringContaining(`(the program sets ${parameter} itself)`)],
      ]);
      expect(loadConfig(spec, { RECOURSE_DATABASE: address })).toEqual({ database: address });
    },
  );

  it('drops no password of a file: an address without a host, which can have none, is refused', () => {
    expect(withPassword('postgres://ledger@db/ledger', 'a/b')).toBe('postgres://ledger:a%2Fb@db/ledger');
    expect(() => withPassword('postgres:///ledger?host=/socket', 'secret')).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID', message: expect.not.stringContaining('secret') }),
    );
  });

  it('takes a token of many groups, and shows none that is too long', () => {
    const spec = { token: secretText('RECOURSE_TOKEN', { doc: 'Token.' }) };
    expect(loadConfig(spec, { RECOURSE_TOKEN: 'e'.repeat(16_384) }).token).toHaveLength(16_384);
    const read = readConfig(spec, { RECOURSE_TOKEN: 'e'.repeat(16_385) });
    const message = 'RECOURSE_TOKEN is not shown; it must be 1 to 16384 characters';
    expect(read).toMatchObject({ ok: false, problems: [{ code: 'INVALID', value: null, message }] });
    expect(describeConfig(spec)).toContain('| **required** (secret) |');
  });

  it('with a file that is no secret takes it whoever may read it, and says when nobody can', () => {
    const spec = { authority: file('RECOURSE_AUTHORITY_FILE', { doc: 'Authority.' }) };
    const open = join(folder, 'authority');
    writeFileSync(open, 'PEM', { mode: 0o644 });
    expect(loadConfig(spec, { RECOURSE_AUTHORITY_FILE: open }).authority).toBe('PEM');
    const read = readConfig(spec, { RECOURSE_AUTHORITY_FILE: join(folder, 'gone') });
    expect(read.ok ? [] : read.problems.map(({ code }) => code)).toEqual(['UNREADABLE']);
  });

  it('refuses values that do not go together, with everything else that is wrong, and only where each is good by itself', () => {
    const rules = [
      {
        fields: ['patienceMs', 'httpPort'] as const,
        doc: 'patience may not be above the port',
        holds: ({ patienceMs, httpPort }: { readonly patienceMs: number; readonly httpPort: number }) =>
          patienceMs <= httpPort,
      },
    ];
    const read = (more: Readonly<Record<string, string>>) => {
      const given = readConfig(SPEC, { ...GOOD, ...more }, rules);
      return given.ok ? [] : given.problems;
    };
    expect(read({ RECOURSE_PORT: '20000' })).toEqual([]);
    expect(
      read({ RECOURSE_MODE: 'lax', RECOURSE_PORT: '9000', RECOURSE_PATIENCE: '1' }).map(
        ({ code, variable, value }) => `${code} ${variable} ${String(value)}`,
      ),
    ).toEqual(['INVALID RECOURSE_MODE lax', 'CONFLICT RECOURSE_PATIENCE_MS 10000', 'UNKNOWN RECOURSE_PATIENCE null']);
    expect(read({ RECOURSE_PORT: '9000' })[0]?.message).toBe(
      'RECOURSE_PATIENCE_MS is "10000", RECOURSE_PORT is "9000": patience may not be above the port',
    );
    expect(read({ RECOURSE_PORT: 'x' }).map(({ code }) => code)).toEqual(['INVALID']);
    expect(() => loadConfig(SPEC, { ...GOOD, RECOURSE_PORT: '9000' }, rules)).toThrow(ConfigInvalid);
    expect(describeConfig(SPEC, rules)).toContain(
      '- `RECOURSE_PATIENCE_MS`, `RECOURSE_PORT`: patience may not be above the port',
    );
  });

  it('prints its own reference', () => {
    const table = describeConfig(SPEC);
    expect(table).toContain(
      '| `RECOURSE_PATIENCE_MS` | Patience. | a whole number, 10 to 60000 | milliseconds | `10000` |',
    );
    expect(table).toContain('| `RECOURSE_KEY_FILE` | Key. |');
    expect(table).toContain('Note, a \\| b.');
  });
});

describe('addresses and networks', () => {
  const spec = { trusted: networks('RECOURSE_TRUSTED', { doc: 'Proxies.' }) };
  it.each(['10.0.0.7', '10.0.0.0/8, ::1', 'fd00::/8,192.0.2.1/32'])('are %s', (text) => {
    expect(loadConfig(spec, { RECOURSE_TRUSTED: text }).trusted).toEqual(text.split(',').map((one) => one.trim()));
  });
  it.each([
    'proxy.example',
    '10.0.0',
    '10.0.0.0/33',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '::1/129',
    '10.0.0.1,',
    '10.0.0.0/-1',
  ])('are not %j', (text) => {
    const read = readConfig(spec, { RECOURSE_TRUSTED: text });
    expect(read.ok ? [] : read.problems.map(({ code }) => code)).toEqual(['INVALID']);
  });
});
