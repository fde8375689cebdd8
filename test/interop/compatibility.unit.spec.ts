// The compatibility check of released schemas: what old and new readers can live with, and what they cannot.
import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const ROOT = join(import.meta.dirname, '../..');
type Problems = (older: object, newer: object) => string[];
// The module is a plain script without typings; its exported function has this shape.
const { compatibilityProblems } = (await import(
  pathToFileURL(join(ROOT, 'scripts/generate/compatibility.mjs')).href
)) as { compatibilityProblems: Problems };

interface Field {
  readonly name: string;
  readonly type: unknown;
  readonly default?: unknown;
}
const record = (...fields: readonly Field[]): object => ({ type: 'record', name: 'recourse.x.Thing', fields });
const mode = (symbols: readonly string[], fallback?: string): object => ({
  type: 'enum',
  name: 'recourse.x.Mode',
  symbols,
  ...(fallback === undefined ? {} : { default: fallback }),
});
const ID: Field = { name: 'id', type: 'string' };
const HASH = { type: 'fixed', name: 'recourse.x.Hash', size: 32 };

describe('a change both sides can live with', () => {
  it.each([
    ['nothing', record(ID), record(ID)],
    [
      'an added field with a default',
      record(ID),
      record(ID, { name: 'note', type: ['null', 'string'], default: null }),
    ],
    ['a removed field that had a default', record(ID, { name: 'count', type: 'long', default: 0 }), record(ID)],
    ['fields in another order', record(ID, { name: 'n', type: 'long' }), record({ name: 'n', type: 'long' }, ID)],
    [
      'a new symbol where old readers have a default',
      record({ name: 'm', type: mode(['a', 'b'], 'a') }),
      record({ name: 'm', type: mode(['a', 'b', 'c'], 'a') }),
    ],
    [
      'an added field of a nested record',
      record({ name: 'in', type: { type: 'record', name: 'recourse.x.In', fields: [ID] } }),
      record({
        name: 'in',
        type: { type: 'record', name: 'recourse.x.In', fields: [ID, { name: 'n', type: 'int', default: 0 }] },
      }),
    ],
    [
      'a reference in place of a definition',
      record({ name: 'a', type: HASH }, { name: 'b', type: 'recourse.x.Hash' }),
      record({ name: 'b', type: HASH }, { name: 'a', type: 'recourse.x.Hash' }),
    ],
  ])('is %s', (_, older, newer) => {
    expect(compatibilityProblems(older, newer)).toEqual([]);
  });
});

describe('a change that breaks one side', () => {
  it.each([
    [
      'an added field without a default',
      record(ID),
      record(ID, { name: 'note', type: 'string' }),
      ['note: added without a default'],
    ],
    [
      'a removed field without a default',
      record(ID, { name: 'note', type: 'string' }),
      record(ID),
      ['note: removed without a default'],
    ],
    [
      'a renamed field',
      record(ID),
      record({ name: 'key', type: 'string' }),
      ['key: added without a default', 'id: removed without a default'],
    ],
    [
      'a widened number',
      record({ name: 'n', type: 'int' }),
      record({ name: 'n', type: 'long' }),
      ['n: type changed from int to long'],
    ],
    [
      'bytes for text',
      record({ name: 's', type: 'string' }),
      record({ name: 's', type: 'bytes' }),
      ['s: type changed from string to bytes'],
    ],
    [
      'a field that becomes nullable',
      record(ID),
      record({ name: 'id', type: ['null', 'string'] }),
      ['id: type changed from string to union'],
    ],
    [
      'a branch more',
      record({ name: 'u', type: ['null', 'string'] }),
      record({ name: 'u', type: ['null', 'string', 'long'] }),
      ['u: branches of the union changed: long added'],
    ],
    [
      'another unit of time',
      record({ name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } }),
      record({ name: 'at', type: { type: 'long', logicalType: 'timestamp-micros' } }),
      ['at: logical type changed from timestamp-millis to timestamp-micros'],
    ],
    [
      'a new symbol that old readers have no default for',
      record({ name: 'm', type: mode(['a']) }),
      record({ name: 'm', type: mode(['a', 'b'], 'a') }),
      ['m: symbols b added, and old readers have no default for them'],
    ],
    [
      'a lost symbol without a default',
      record({ name: 'm', type: mode(['a', 'b']) }),
      record({ name: 'm', type: mode(['a']) }),
      ['m: symbols b removed, and new readers have no default for them'],
    ],
    [
      'another size',
      record({ name: 'h', type: HASH }),
      record({ name: 'h', type: { ...HASH, size: 20 } }),
      ['h: size changed from 32 to 20'],
    ],
    [
      'another name',
      record({ name: 'h', type: HASH }),
      record({ name: 'h', type: { ...HASH, name: 'recourse.x.Digest' } }),
      ['h: renamed from recourse.x.Hash to recourse.x.Digest'],
    ],
    [
      'a break deep inside',
      record({ name: 'l', type: { type: 'array', items: { type: 'record', name: 'recourse.x.In', fields: [ID] } } }),
      record({
        name: 'l',
        type: {
          type: 'array',
          items: { type: 'record', name: 'recourse.x.In', fields: [ID, { name: 'n', type: 'int' }] },
        },
      }),
      ['l[].n: added without a default'],
    ],
    [
      'a log record that loses its head',
      record({ name: 'seq', type: 'long' }, { name: 'prev_hash', type: HASH }),
      record({ name: 'prev_hash', type: HASH }, { name: 'seq', type: 'long' }),
      ['the record no longer begins with seq and prev_hash'],
    ],
  ])('is %s', (_, older, newer, problems) => {
    expect(compatibilityProblems(older, newer)).toEqual(problems);
  });
});

describe('the generator', () => {
  it('finds every file of this tree up to date', async () => {
    expect(await generate('--check')).toMatchObject({ code: 0 });
  });

  it('refuses a breaking change, records a compatible one, and compares with every version', async () => {
    const tree = await mkdtemp(join(tmpdir(), 'recourse-schemas-'));
    try {
      await cp(join(ROOT, 'schemas'), join(tree, 'schemas'), { recursive: true });
      await generate('--record', '--root', tree);
      const before = await versions(tree);
      await edit(tree, (fields) => [...fields, { name: 'extra', type: 'string', doc: 'Added.' }]);
      expect((await generate('--root', tree)).output).toContain('extra: added without a default');
      await edit(tree, (fields) => fields.map((field) => (field.name === 'extra' ? { ...field, default: '' } : field)));
      expect(await generate('--record', '--root', tree)).toMatchObject({ code: 0 });
      expect(await versions(tree)).toHaveLength(before.length + 1);
      expect(await generate('--check', '--root', tree)).toMatchObject({ code: 0 });
      await edit(tree, (fields) => fields.filter((field) => field.name !== 'tenant'));
      const { output } = await generate('--root', tree);
      expect(output).toContain(`against version ${before.length}: tenant: removed without a default`);
      expect(output).toContain(`against version ${before.length + 1}: tenant: removed without a default`);
    } finally {
      await rm(tree, { recursive: true });
    }
  }, 120_000);

  it('lists a stale file, and every problem of the sources at once', async () => {
    const tree = await mkdtemp(join(tmpdir(), 'recourse-schemas-'));
    try {
      await cp(join(ROOT, 'schemas'), join(tree, 'schemas'), { recursive: true });
      expect((await generate('--check', '--root', tree)).output).toContain('libs/messages/src/generated/schemas.ts');
      await edit(tree, (fields) => [
        ...fields,
        { name: 'bare', type: 'string' },
        { name: 'lost', type: 'recourse.common.Nowhere', doc: 'Refers to nothing.' },
      ]);
      const { code, output } = await generate('--check', '--root', tree);
      expect(code).toBe(1);
      expect(output).toContain('field bare has no doc');
      expect(output).toContain('unknown type recourse.common.Nowhere');
    } finally {
      await rm(tree, { recursive: true });
    }
  });
});

const MESSAGE = 'recourse.assumptions.AssumptionInvalidated';
const versions = async (tree: string): Promise<string[]> => readdir(join(tree, 'schemas/history', MESSAGE));

async function edit(tree: string, change: (fields: readonly Field[]) => readonly object[]): Promise<void> {
  const file = join(tree, 'schemas/assumptions/AssumptionInvalidated.avsc');
  // Schema sources are records of this shape.
  const schema = JSON.parse(await readFile(file, 'utf8')) as { fields: readonly Field[] };
  await writeFile(file, JSON.stringify({ ...schema, fields: change(schema.fields) }));
}

async function generate(...options: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [join(ROOT, 'scripts/generate.mjs'), ...options]);
    return { code: 0, output: stdout };
  } catch (error) {
    // execFile rejects with the child's exit code and output on the error.
    const { code, stderr } = error as { readonly code: number; readonly stderr: string };
    return { code, output: stderr };
  }
}
