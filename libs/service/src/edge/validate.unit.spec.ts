// The schemas of the OpenAPI documents, which programs are generated from.
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { EdgeRefusal } from './problem.js';
import { anyJson, bounded, entriesIn, idText, openApiSchema, parse, runText } from './validate.js';

describe('the schema of an input', () => {
  it('refers to nothing: its definitions have no place in a document of many', () => {
    const text = JSON.stringify(openApiSchema(z.strictObject({ evidence: z.json(), reason: z.string() })));
    expect(text).not.toContain('$ref');
    expect(text).not.toContain('$defs');
    expect(openApiSchema(z.strictObject({ evidence: z.json() }))).toMatchObject({ properties: { evidence: {} } });
  });
});

describe('a member that is any JSON', () => {
  const schema = z.strictObject({ evidence: anyJson });

  it('is taken as it is, and wanted', () => {
    for (const evidence of [null, false, 0, '', [], { a: [1] }])
      expect(parse(schema, { evidence })).toEqual({ evidence });
    expect(() => parse(schema, {})).toThrow('/evidence: is missing: it may be any JSON');
  });

  it('is documented as before: anything, and required', () => {
    expect(openApiSchema(schema)).toEqual(openApiSchema(z.strictObject({ evidence: z.json() })));
    expect(openApiSchema(schema)).toMatchObject({ properties: { evidence: {} }, required: ['evidence'] });
  });
});

describe('an input that does not fit', () => {
  const schema = z.strictObject({
    state: z.enum(['open', 'held', 'denied']).optional(),
    reason: z.string().min(1).max(5).optional(),
    ids: z.array(z.string()).min(2).optional(),
    limit: z.coerce.number().int().min(1).max(500).optional(),
    run_id: idText,
  });
  const problemsOf = (input: unknown, named?: string): readonly unknown[] => {
    try {
      if (named === undefined) parse(schema, input);
      else parse(idText, input, named);
      return [];
    } catch (refused) {
      return refused instanceof EdgeRefusal
        ? refused.problems.map(({ path, message }) => `${path ?? ''} ${message}`)
        : [refused];
    }
  };

  it.each([
    [{ state: 'approved' }, '/state is "approved", and may be open, held or denied'],
    [{ reason: '' }, '/reason must not be empty'],
    [{ reason: 'too long' }, '/reason has 8 characters, and must have at most 5'],
    [{ reason: 7 }, '/reason is 7, and must be text'],
    [{ ids: ['one'] }, '/ids has 1 entries, and must have at least 2'],
    [{ limit: '0' }, '/limit is 0, and must be at least 1'],
    [{ limit: 'ten' }, '/limit is no number, and must be a number'],
    [{ run_id: undefined }, '/run_id is missing: it must be text'],
    [{ run_id: 'a\u0000' }, '/run_id must not hold control characters'],
    [{ pahse: 'x' }, '/ does not take "pahse": it takes state, reason, ids, limit, run_id'],
  ])('%j is told which member, what it is and what it may be', (more, words) => {
    expect(problemsOf({ run_id: 'run-1', ...more })).toEqual([words]);
  });

  it('names a part that is no object', () => {
    expect(problemsOf('', 'step_id')).toEqual(['/step_id must not be empty']);
  });

  it('quotes no more of a text than finds it again', () => {
    expect(problemsOf({ run_id: 'run-1', state: 'x'.repeat(1_000) })).toEqual([
      `/state is "${'x'.repeat(40)}…", and may be open, held or denied`,
    ]);
  });
});

describe('an input with more wrong than anybody reads', () => {
  const refusalOf = (schema: z.ZodType, input: unknown): EdgeRefusal => {
    try {
      parse(schema, input);
    } catch (refused) {
      if (refused instanceof EdgeRefusal) return refused;
    }
    throw new Error('it was taken');
  };

  it('is told the first hundred problems, and how many more there are', () => {
    const { problems, message } = refusalOf(z.array(z.strictObject({ id: idText })), Array(5_000).fill({}));
    expect(problems.map(({ path }) => path)).toEqual(Array.from({ length: 100 }, (_, at) => `/${String(at)}/id`));
    expect(message).toMatch(/^\/0\/id: .*; \/99\/id: is missing: it must be text; and 4900 more$/);
  });

  it('is told all of a hundred', () => {
    const { problems, message } = refusalOf(z.array(z.strictObject({ id: idText })), Array(100).fill({}));
    expect([problems.length, message.split('; ').length, message.includes('more')]).toEqual([100, 100, false]);
  });

  it('is told ten of the members that it does not take, and how many more', () => {
    const input = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`m${String(at)}`, 1]));
    expect(refusalOf(z.strictObject({}), input).message).toBe(
      '/: does not take "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9" and 490 more: it takes none',
    );
  });

  it('is told no more of a path than finds it again', () => {
    const [problem] = refusalOf(z.record(z.string(), idText), {
      [`${'x'.repeat(298)}\u{1F600}${'y'.repeat(50)}`]: 1,
    }).problems;
    expect(problem?.path).toBe(`/${'x'.repeat(298)}\uFFFD…`);
  });

  it('is refused by the code of its bound before any of it is looked at', () => {
    let looks = 0;
    const member = z.unknown().refine(() => (looks += 1) < 0);
    const bound = { sizeOf: entriesIn, max: 2, message: 'split it', code: 'LIST_TOO_LARGE' };
    const schema = z.strictObject({
      ids: bounded(bound, z.array(member)),
      by: bounded(bound, z.record(z.string(), member)),
    });
    expect(refusalOf(schema, { ids: [1, 2, 3], by: { a: 1, b: 2, c: 3 } }).problems).toEqual([
      { code: 'LIST_TOO_LARGE', message: 'split it', path: '/ids' },
      { code: 'LIST_TOO_LARGE', message: 'split it', path: '/by' },
    ]);
    expect(looks).toBe(0);
    expect(refusalOf(schema, { ids: [1, 2], by: {} }).problems).toHaveLength(2);
  });
});

describe('the id of a run', () => {
  it.each(['a\nb', '\u001b[2J', 'x'.repeat(512), 'ä'.repeat(256)])(
    'is what agents may call it on a wire: %j',
    (run) => {
      expect(parse(runText, run)).toBe(run);
    },
  );
  it.each(['', 'x'.repeat(513), 'ä'.repeat(257), 'a\u0000', '\ud800'])('is not what no wire takes: %j', (run) => {
    expect(() => parse(runText, run)).toThrow(EdgeRefusal);
  });
});
