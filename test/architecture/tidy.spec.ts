// What no linter knows about the tree (docs/design/style.md, section 9). Every check also meets a bad example, so that it cannot go blind.
import { describe, expect, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { dirname, extname, join, posix } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';
import { suiteOf } from '../../scripts/lib/suites.mjs';
import { filesBelow, textOf } from './tree.testing.js';
import type { SourceText } from './tidy.decisions.js';
import {
  adrProblems,
  anchorsOf,
  behavioursOf,
  blocksIn,
  camelNames,
  citationsElsewhere,
  citedPages,
  citedRules,
  forbiddenLines,
  importsOf,
  interfacesOf,
  isMemoryAdapter,
  relativeLinks,
  rulesIn,
  someImports,
  undocumented,
} from './tidy.decisions.js';

const FILES = filesBelow();
const TEXT = new Set([
  '.ts',
  '.mjs',
  '.cjs',
  '.json',
  '.md',
  '.avsc',
  '.py',
  '.yaml',
  '.yml',
  '.xml',
  '.sql',
  '.sh',
  '.txt',
  '.toml',
  '',
]);
/** Full of hashes and names that are not ours. */
const NOT_PROSE = new Set(['package-lock.json', 'LICENSE']);

const read = (path: string): SourceText => ({ path, text: textOf(path) });
const sources = FILES.filter((path) => path.endsWith('.ts') && /^(libs|apps|deploy|examples|test)\//.test(path)).map(
  read,
);
const packageOf = (path: string): string => path.split('/').slice(0, 2).join('/');

/** Port files with behaviour; one that only shapes data needs no adapter. */
const ports = sources.filter(({ path }) => path.endsWith('.port.ts')).filter((port) => behavioursOf(port).length > 0);

describe('a port', () => {
  it('exists', () => {
    expect(ports.length).toBeGreaterThan(3);
  });

  it.each(ports.map(({ path }) => path))('%s has a memory adapter', (path) => {
    const adapters = sources.filter((file) => isMemoryAdapter(file.path));
    expect(someImports(adapters, behavioursOf(read(path)))).toBe(true);
  });

  it.each(ports.map(({ path }) => path))('%s has a contract suite', (path) => {
    const suites = sources.filter(
      (file) => file.path.endsWith('.contract.ts') && packageOf(file.path) === packageOf(path),
    );
    expect(someImports(suites, interfacesOf(read(path)))).toBe(true);
  });

  it('without them is noticed', () => {
    const port = {
      path: 'libs/x/src/clock.port.ts',
      text: 'export interface Clock {\n  now(): number;\n}\nexport interface Instant {\n  readonly at: number;\n}\n',
    };
    expect(behavioursOf(port)).toEqual(['Clock']);
    expect(
      someImports(
        [{ path: 'libs/x/src/clock.memory.ts', text: "import type { Instant } from './clock.port.js';\n" }],
        behavioursOf(port),
      ),
    ).toBe(false);
    expect(
      someImports(
        [{ path: 'libs/x/src/clock.memory.ts', text: "import { type Clock } from './clock.port.js';\n" }],
        behavioursOf(port),
      ),
    ).toBe(true);
  });
});

describe('a contract suite', () => {
  it.each(FILES.filter((path) => path.endsWith('.contract.ts')))(
    '%s is run by a spec or part of another suite',
    (path) => {
      const name = `./${posix.basename(path).replace(/\.ts$/, '.js')}`;
      const users = sources.filter(
        (file) => file.path !== path && /\.(spec|contract)\.ts$/.test(file.path) && file.text.includes(name.slice(1)),
      );
      expect(users.map((file) => file.path)).not.toEqual([]);
    },
  );
});

describe('a schema', () => {
  const schemas = FILES.filter((path) => path.endsWith('.avsc') && !path.startsWith('schemas/history/'));

  it('documents each field', () => {
    expect(schemas.length).toBeGreaterThan(20);
    expect(
      schemas.flatMap((path) => undocumented(JSON.parse(textOf(path))).map((field) => `${path}: ${field}`)),
    ).toEqual([]);
  });

  it('with a silent field is noticed, however deep', () => {
    const inner = { type: 'record', name: 'B', doc: 'Inner.', fields: [{ name: 'c', type: 'long', doc: ' ' }] };
    expect(
      undocumented({
        type: 'record',
        name: 'A',
        doc: 'Outer.',
        fields: [{ name: 'b', doc: 'List.', type: ['null', { type: 'array', items: inner }] }],
      }),
    ).toEqual(['A.b.c']);
  });
});

describe('an architecture decision', () => {
  const records = FILES.filter((path) => path.startsWith('docs/adr/') && path.endsWith('.md'));

  it('is numbered without gaps', () => {
    expect(records.map((path) => Number(posix.basename(path).slice(0, 4)))).toEqual(
      records.map((_, index) => index + 1),
    );
  });

  it.each(records)('%s has its parts', (path) => {
    expect(adrProblems(read(path))).toEqual([]);
    expect(textOf(path)).toMatch(new RegExp(`^# ADR-${posix.basename(path).slice(0, 4)}: `));
  });

  it('that lacks a part, or leaves one empty, is noticed', () => {
    expect(
      adrProblems({ path: 'a.md', text: '# A\n\n## Status\n\nAccepted.\n\n## Context\n\n## Decision\n\nYes.\n' }),
    ).toEqual(['no "Options that lost"', 'no "Consequences"', 'empty "Context"']);
  });
});

describe('a spec', () => {
  it('belongs to a suite that runs it', () => {
    const specs = FILES.filter((path) => path.endsWith('.spec.ts'));
    expect(specs.filter((path) => suiteOf(path) === null)).toEqual([]);
    expect(suiteOf('libs/kernel/src/ids.spec.ts')).toBeNull();
  });

  it('asserts something', () => {
    const specs = sources.filter(({ path }) => path.endsWith('.spec.ts'));
    const silent = specs.filter(
      (spec) =>
        !/\bexpect\(|\.then(Nothing|Rejected|Answers?)?\(|[cC]ontract\(|fc\.assert\(/.test(spec.text) &&
        !importsOf(spec).some((name) => /[cC]ontract/.test(name)),
    );
    expect(silent.map(({ path }) => path)).toEqual([]);
  });

  it('is never alone, skipped or left for later', () => {
    const parked = new RegExp(
      String.raw`\b(describe|it|test)\.(only|skip|${['to', 'do'].join('')})\(|\b[fx](it|describe)\(`,
    );
    expect(
      sources.filter(({ path, text }) => path.endsWith('.spec.ts') && parked.test(text)).map(({ path }) => path),
    ).toEqual([]);
  });
});

describe('a text', () => {
  const texts = FILES.filter((path) => TEXT.has(extname(path)) && !NOT_PROSE.has(posix.basename(path)));

  it('leaves no work open and names neither workplace nor machine', () => {
    expect(texts.length).toBeGreaterThan(100);
    expect(texts.flatMap((path) => forbiddenLines(read(path)))).toEqual([]);
  });

  it('cites only what is in the tree', () => {
    expect(texts.flatMap((path) => citationsElsewhere(read(path)))).toEqual([]);
    // This file quotes pages that are not there.
    const lost = texts
      .filter((path) => path !== 'test/architecture/tidy.spec.ts')
      .flatMap((path) =>
        citedPages(textOf(path))
          .filter((page) => !existsSync(join(root, page)))
          .map((page) => `${path}: ${page}`),
      );
    expect(lost).toEqual([]);
  });

  it('cites only rules that are written down', () => {
    const rules = new Set(['docs/design/loop.md', 'docs/design/promises.md'].flatMap((page) => rulesIn(textOf(page))));
    expect([rules.has('L17'), rules.has('P14'), rules.has(['L', '18'].join(''))]).toEqual([true, true, false]);
    const cited = sources.flatMap(({ path, text }) => citedRules(text).map((rule) => ({ path, rule })));
    expect(cited.length).toBeGreaterThan(100);
    expect(cited.filter(({ rule }) => !rules.has(rule))).toEqual([]);
    expect(
      citedRules(`one decision (L4), as in P14; p50 and P99 are measures, ${['L', '18'].join('')} is no rule`),
    ).toEqual(['L4', 'P14', ['L', '18'].join('')]);
  });

  it('that cites another document is noticed', () => {
    const bad = [
      ['// The loop (DES', 'IGN 3.3).'],
      ['see STY', 'LE section 8'],
      ['a row of REQUIRE', 'MENTS.md'],
    ].map((parts) => parts.join(''));
    expect(bad.flatMap((text) => citationsElsewhere({ path: 'a.ts', text }))).toHaveLength(bad.length);
    expect(citationsElsewhere({ path: 'a.ts', text: 'const STYLE_OF = 1; // docs/design/loop.md, L5' })).toEqual([]);
    expect(citedPages(`Source: ${['docs/none', 'here.md'].join('/')}; see docs/design/loop.md.`)).toEqual([
      ['docs/none', 'here.md'].join('/'),
      'docs/design/loop.md',
    ]);
  });

  it('that does is noticed', () => {
    const bad = [
      ['// TO', 'DO later'],
      ['throw new Error("Not ', 'implemented")'],
      ['written by cla', 'ude'],
      ['cd /ho', 'me/ann/recourse'],
    ].map((parts) => parts.join(''));
    expect(bad.filter((text) => forbiddenLines({ path: 'a.ts', text }).length === 0)).toEqual([]);
    expect(
      forbiddenLines({
        path: 'a.ts',
        text: ['an adapter for the Open', 'AI Agents SDK, @open', 'ai/agents-core'].join(''),
      }),
    ).toEqual([]);
    expect(
      forbiddenLines({
        path: 'a.ts',
        text: 'the agent session times out after sessionTimeout; see /workers/ and mktemp XXXXXX',
      }),
    ).toEqual([]);
  });
});

describe('a page', () => {
  const pages = FILES.filter((path) => path.endsWith('.md'));
  const broken = (path: string): readonly string[] =>
    relativeLinks(textOf(path))
      .filter((link) => !leadsSomewhere(path, link))
      .map((link) => `${path}: ${link}`);

  it('links to what is there', () => {
    expect(pages.flatMap(broken)).toEqual([]);
  });

  it('quotes TypeScript that is there', () => {
    const code = sources.map(({ text }) => text).join('\n');
    const quoted = pages.flatMap((path) => blocksIn(textOf(path), 'ts').map((block) => ({ path, block })));
    expect(quoted.length).toBeGreaterThan(10);
    expect(quoted.filter(({ block }) => !code.includes(block))).toEqual([]);
    expect(blocksIn('```ts\nconst a = 1;\n```\n\n```sh\nls\n```\n', 'ts')).toEqual(['const a = 1;\n']);
  });

  it('names only what the tree has', () => {
    const known = new Set(
      FILES.filter((path) => /\.(ts|mjs|avsc|py|java)$/.test(path)).flatMap((path) => textOf(path).match(/\w+/g) ?? []),
    );
    const unknown = (path: string, text: string): readonly string[] =>
      camelNames(text)
        .filter((name) => !known.has(name))
        .map((name) => `${path}: ${name}`);
    // A decision may name what it replaced.
    const present = pages.filter((path) => !path.startsWith('docs/adr/'));
    expect(present.flatMap((path) => unknown(path, textOf(path)))).toEqual([]);
    expect(unknown('a.md', `See \`MutationRecorded\` and \`${['Mutation', 'Forgotten'].join('')}\`.`)).toHaveLength(1);
  });

  it('that links into the void is noticed', () => {
    expect(relativeLinks('See [a](docs/none.md#x) and [b](https://example.org), not `[c](d)`.')).toEqual([
      'docs/none.md#x',
    ]);
    expect(leadsSomewhere('CONTRIBUTING.md', 'docs/none.md')).toBe(false);
    expect(leadsSomewhere('CONTRIBUTING.md', '#no-such-heading')).toBe(false);
  });
});

function leadsSomewhere(page: string, link: string): boolean {
  const [file = '', anchor] = decodeURIComponent(link).split('#');
  const target =
    file === '' ? page : posix.normalize(file.startsWith('/') ? file.slice(1) : posix.join(dirname(page), file));
  if (!existsSync(join(root, target))) return false;
  return anchor === undefined || !target.endsWith('.md') || anchorsOf(textOf(target)).includes(anchor);
}
