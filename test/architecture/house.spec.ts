// The house script counts what it says it counts: small texts with known numbers.
import { describe, expect, it } from '@jest/globals';
import { blindCasts, functionsOver, linesOf, placesOf, relativeImports } from '../../scripts/lib/house/measure.mjs';
import { upwardImports } from '../../scripts/lib/house/order.mjs';
import { kindOf, packageOf } from '../../scripts/lib/house/sources.mjs';
import { filesBelow, textOf } from './tree.testing.js';

const lines = (count: number): string => '  work();\n'.repeat(count);

describe('lines', () => {
  it('end with a line feed, or with the text', () => {
    expect([linesOf('a\nb\n'), linesOf('a\nb'), linesOf('a\n')]).toEqual([2, 2, 1]);
  });
});

describe('a function', () => {
  it('is measured from its first line to its last', () => {
    const text = `function ok() {\n${lines(2)}}\n\nfunction long() {\n${lines(3)}}\n`;
    expect(functionsOver('a.ts', text, 4)).toEqual([{ name: 'long', line: 6, lines: 5 }]);
  });

  it('counts as a method, an arrow and inside another one', () => {
    const text = `class A {\n  m() {\n${lines(3)}  }\n}\nconst arrow = () => {\n  it(function () {\n${lines(3)}  });\n};\n`;
    expect(functionsOver('a.ts', text, 4).map(({ name, lines: count }) => [name, count])).toEqual([
      ['m', 5],
      ['arrow', 7],
      ['(anonymous)', 5],
    ]);
  });

  it('without a body does not count', () => {
    expect(functionsOver('a.ts', `interface A {\n  m(\n    a: 1,\n    b: 2,\n  ): void;\n}\n`, 1)).toEqual([]);
  });
});

describe('a blind cast', () => {
  it('is code, not a comment or a string', () => {
    const text = `// as unknown as A\nconst a = b as unknown as A;\nconst c = 'as unknown as';\nconst d = b as A;\n`;
    expect(blindCasts('a.ts', text)).toEqual([2]);
  });
});

describe('a place of a verb', () => {
  const verb = { record: 'EscalateStep', word: 'escalate' };

  it('is a statement that names the record or the word people ask with', () => {
    const text = [
      `import type { EscalateStep } from './messages.js';`,
      `const roles = { EscalateStep: ['operator'] };`,
      `program.command('escalate <step>');`,
      `function incidentOf(a: EscalateStep, b: EscalateStep) {}`,
      `// EscalateStep`,
      `const other = StepEscalated('escalated');`,
    ].join('\n');
    expect(placesOf('a.ts', text, verb)).toEqual([1, 2, 3, 4]);
  });

  it('is a schema, its topic, a line of the table and a rule, and no other', () => {
    const written = ['apps', 'libs', 'deploy', 'examples', 'test']
      .flatMap((folder) => filesBelow(folder))
      .filter((path) => path.endsWith('.ts') && !['spec', 'generated'].includes(kindOf(path)))
      .map((path) => ({ path, text: textOf(path) }))
      .filter(({ text }) => text.includes(verb.record) || text.includes(verb.word))
      .flatMap(({ path, text }) => placesOf(path, text, verb).map(() => path));
    expect(written.sort()).toEqual([
      'apps/recovery-orchestrator/src/core/commands.ts',
      'apps/recovery-orchestrator/src/rules/step/command.decisions.ts',
    ]);
  });
});

describe('an upward import', () => {
  const file = (path: string, ...imports: string[]) => ({ path, imports, package: 'libs/a' });

  it('is the lighter half of a circle of folders', () => {
    const files = [
      file('libs/a/src/guard/one.ts', '../worker/tool.js'),
      file('libs/a/src/worker/tool.ts', '../guard/one.js', './other.js'),
      file('libs/a/src/worker/other.ts', '../guard/one.js'),
    ];
    expect(upwardImports(files)).toEqual([{ from: 'libs/a/src/guard/one.ts', to: 'libs/a/src/worker/tool.ts' }]);
  });

  it('is found in a circle of three', () => {
    const files = [
      file('libs/a/src/x/x.ts', '../y/y.js'),
      file('libs/a/src/x/x2.ts', '../y/y.js'),
      file('libs/a/src/y/y.ts', '../z/z.js'),
      file('libs/a/src/y/y2.ts', '../z/z.js'),
      file('libs/a/src/z/z.ts', '../x/x.js'),
    ];
    expect(upwardImports(files)).toEqual([{ from: 'libs/a/src/z/z.ts', to: 'libs/a/src/x/x.ts' }]);
  });

  it('is none where folders have an order, nor between a folder and the files beside it', () => {
    const files = [
      file('libs/a/src/guard/one.ts', '../worker/tool.js', '../clock.js'),
      file('libs/a/src/clock.ts', './guard/one.js'),
      file('libs/a/src/worker/tool.ts', './other.js'),
    ];
    expect(upwardImports(files)).toEqual([]);
  });

  it('is read from imports, exports and dynamic imports', () => {
    const text = `import a from './a.js';\nexport * from '../b.js';\nawait import('./c.js');\nimport d from 'd';\n`;
    expect(relativeImports(text)).toEqual(['./a.js', '../b.js', './c.js']);
  });
});

describe('the folders of a package', () => {
  const layered = filesBelow().filter(
    (path) => path.endsWith('.ts') && kindOf(path) === 'product' && !/\.(testing|contract)\.ts$/.test(path),
  );

  it('have an order: no two of them import each other', () => {
    expect(layered.length).toBeGreaterThan(300);
    const files = layered.map((path) => ({
      path,
      package: packageOf(path),
      imports: relativeImports(textOf(path)),
    }));
    expect(upwardImports(files).map(({ from, to }) => `${from} > ${to}`)).toEqual([]);
  });
});

describe('a file', () => {
  it.each([
    ['libs/kafka/src/port.ts', 'product', 'libs/kafka'],
    ['deploy/dev/src/launcher.ts', 'product', 'deploy/dev'],
    ['apps/cli/src/a.unit.spec.ts', 'spec', 'apps/cli'],
    ['libs/messages/src/generated/a.ts', 'generated', 'libs/messages'],
    ['examples/checkout/src/main.ts', 'example', 'examples/checkout'],
    ['test/breaks/libs.breaks.ts', 'spec', 'test/breaks'],
    ['scripts/lib/run.mjs', 'script', 'scripts'],
    ['test/simulation/src/run.ts', 'proof', 'test/simulation'],
    ['eslint.config.mjs', 'proof', '(root)'],
  ])('%s is %s of %s', (path, kind, name) => {
    expect([kindOf(path), packageOf(path)]).toEqual([kind, name]);
  });
});
