// The boundaries bite: for each kind of forbidden import a small tree that holds one, cruised with the real configuration.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ICruiseOptions, IFlattenedRuleSet } from 'dependency-cruiser';
import { cruise } from 'dependency-cruiser';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';

interface Configuration {
  readonly forbidden: NonNullable<IFlattenedRuleSet['forbidden']>;
  readonly options: ICruiseOptions;
}
const { forbidden, options } = createRequire(import.meta.url)(join(root, '.dependency-cruiser.cjs')) as Configuration;

/** Rule, file, and what that file must not import (a path from the root, or a package). */
const BREACHES: readonly (readonly [rule: string, from: string, to: string])[] = [
  ['no-cycles', 'libs/chain/src/a.ts', 'libs/chain/src/a-back.ts'],
  ['resolvable', 'libs/chain/src/b.ts', './nowhere.js'],
  ['libs-kernel', 'libs/kernel/src/a.ts', 'libs/chain/src/index.ts'],
  ['libs-chain', 'libs/chain/src/c.ts', 'libs/messages/src/index.ts'],
  ['libs-event-log', 'libs/event-log/src/a.ts', 'libs/service/src/index.ts'],
  ['libs-kafka', 'libs/kafka/src/a.ts', 'libs/event-log/src/index.ts'],
  ['libs-sdk', 'libs/sdk/src/a.ts', 'libs/event-log/src/index.ts'],
  ['libs-listed', 'libs/newcomer/src/a.ts', 'libs/kernel/src/index.ts'],
  ['libs-below', 'libs/service/src/a.ts', 'apps/mutation-ledger/src/index.ts'],
  ['library-specs-below', 'libs/service/src/a.unit.spec.ts', 'apps/mutation-ledger/src/index.ts'],
  ['apps-are-islands', 'apps/budget-accountant/src/a.ts', 'apps/mutation-ledger/src/index.ts'],
  ['apps-know-no-stack', 'apps/budget-accountant/src/b.ts', 'deploy/dev/src/index.ts'],
  ['apps-get-kafka-from-outside', 'apps/mutation-ledger/src/core/a.ts', 'libs/kafka/src/index.ts'],
  ['apps-get-kafka-from-outside', 'apps/budget-accountant/src/core.ts', 'libs/kafka/src/index.ts'],
  ['rules-are-pure', 'apps/mutation-ledger/src/rules/a.ts', 'apps/mutation-ledger/src/core/ok.ts'],
  ['rules-are-pure', 'apps/budget-accountant/src/rules/budget/a.ts', 'apps/budget-accountant/src/other.ts'],
  ['rules-use-types-of-the-loop', 'apps/mutation-ledger/src/rules/b.ts', 'libs/event-log/src/index.ts'],
  ['rules-use-types-of-the-loop', 'apps/budget-accountant/src/rules/budget/b.ts', 'libs/event-log/src/index.ts'],
  ['rules-need-no-package', 'apps/mutation-ledger/src/rules/c.ts', 'zod'],
  ['rules-need-no-package', 'apps/budget-accountant/src/rules/budget/c.ts', 'zod'],
  ['cores-do-no-io', 'apps/mutation-ledger/src/rules/d.ts', 'node:fs'],
  ['cores-do-no-io', 'apps/budget-accountant/src/rows.ts', 'node:fs'],
  ['cores-do-no-io', 'libs/contract/src/a.ts', 'node:child_process'],
  ['nest-is-wiring', 'apps/mutation-ledger/src/core/b.ts', '@nestjs/common'],
  ['nest-is-wiring', 'apps/budget-accountant/src/budgets.core.ts', '@nestjs/common'],
  ['nest-is-wiring', 'apps/notifier/src/sender/a.ts', '@nestjs/common'],
  ['nest-is-wiring', 'libs/event-log/src/b.ts', '@nestjs/microservices'],
  ['core-knows-no-edge', 'apps/mutation-ledger/src/core/c.ts', 'apps/mutation-ledger/src/http/c.ts'],
  ['core-knows-no-edge', 'apps/notifier/src/core.ts', 'apps/notifier/src/store/b.ts'],
  ['http-is-called-by-nobody', 'apps/notifier/src/reads/a.ts', 'apps/notifier/src/http/a.ts'],
  ['kafkajs-behind-the-port', 'libs/event-log/src/c.ts', 'kafkajs'],
  ['kafkajs-behind-the-port', 'deploy/dev/src/a.ts', '@kafkajs/confluent-schema-registry'],
  ['kafkajs-in-its-adapter', 'libs/kafka/src/b.ts', 'kafkajs'],
  ['platformatic-in-its-adapter', 'libs/kafka/src/c.ts', '@platformatic/kafka'],
  ['platformatic-is-loaded-late', 'libs/kafka/src/d.ts', 'libs/kafka/src/platformatic/ok.kafka.ts'],
  ['sql-in-stores', 'apps/mutation-ledger/src/http/a.ts', 'pg'],
  ['sql-in-stores', 'apps/notifier/src/http/b.ts', 'pg'],
  ['sql-in-stores', 'libs/event-log/src/d.ts', 'typeorm'],
  ['sdk-stays-light', 'libs/sdk/src/b.ts', '@nestjs/common'],
  ['checkpoints-know-no-detector', 'libs/sdk/src/checkpoint/a.ts', 'libs/sdk/src/detector/a.ts'],
  ['detectors-know-no-checkpoint', 'libs/sdk/src/detector/b.ts', 'libs/sdk/src/checkpoint/b.ts'],
  ['libs-below', 'libs/sdk/src/detector/c.ts', 'apps/mutation-ledger/src/core/falls.part.ts'],
  ['sdk-reaches-no-framework', 'libs/sdk/src/index.ts', 'libs/sdk/src/b.ts'],
  ['verifier-imports-no-service', 'apps/cli/src/a.ts', 'libs/event-log/src/index.ts'],
  ['specs-are-leaves', 'libs/chain/src/d.ts', 'libs/chain/src/leaf.unit.spec.ts'],
  ['product-needs-no-testing-tools', 'libs/service/src/b.ts', 'libs/testing/src/index.ts'],
  ['product-needs-no-testing-tools', 'libs/service/src/c.ts', 'fast-check'],
  ['e2e-imports-no-product', 'test/e2e/a.e2e.spec.ts', 'libs/sdk/src/index.ts'],
  ['examples-are-users', 'examples/drifted-refund/src/a.ts', 'libs/event-log/src/index.ts'],
];

/** What a careless rule would forbid as well. */
const FINE: readonly (readonly [from: string, to: string])[] = [
  ['apps/mutation-ledger/src/rules/fine.ts', 'libs/messages/src/index.ts'],
  ['apps/mutation-ledger/src/reads/fine.ts', 'pg'],
  ['apps/budget-accountant/src/rules/budget/fine.ts', 'libs/messages/src/index.ts'],
  ['apps/contract-registry/src/core.ts', 'apps/contract-registry/src/rules/entry/fine.ts'],
  ['apps/notifier/src/store/fine.ts', 'pg'],
  ['apps/notifier/src/http/fine.ts', 'apps/notifier/src/reads/fine.ts'],
  ['apps/budget-accountant/src/main.ts', 'libs/service/src/index.ts'],
  ['libs/kafka/src/kafkajs/fine.kafka.ts', 'kafkajs'],
  ['libs/kafka/src/platformatic/fine.kafka.ts', '@platformatic/kafka'],
  ['test/simulation/src/fine.ts', 'apps/mutation-ledger/src/index.ts'],
  ['deploy/dev/src/fine.ts', 'pg'],
];

let tree = '';
let breaches: ReadonlySet<string> = new Set();
let touched: ReadonlySet<string> = new Set();

beforeAll(async () => {
  tree = realpathSync(mkdtempSync(join(tmpdir(), 'recourse-boundaries-')));
  for (const [, from, to] of BREACHES) plant(from, to);
  for (const [from, to] of FINE) plant(from, to);
  write('libs/chain/src/a-back.ts', "import './a.js';\nexport {};\n");
  plant('libs/sdk/src/index.ts', 'libs/sdk/src/b.ts');
  plant('libs/sdk/src/b.ts', '@nestjs/common');
  const { enhancedResolveOptions, exclude, doNotFollow } = options;
  const folders = ['libs', 'apps', 'deploy', 'examples', 'test'];
  const { output } = await cruise(folders, {
    baseDir: tree,
    ruleSet: { forbidden },
    validate: true,
    tsPreCompilationDeps: true,
    exclude,
    doNotFollow,
    enhancedResolveOptions,
  } as ICruiseOptions);
  if (typeof output === 'string') throw new Error(output);
  breaches = new Set(
    output.summary.violations.flatMap(({ rule, from, cycle = [] }) =>
      [from, ...cycle.map(({ name }) => name)].map((path) => `${rule.name} ${path}`),
    ),
  );
  touched = new Set(output.summary.violations.map(({ from }) => from));
});

afterAll(() => {
  rmSync(tree, { recursive: true, force: true });
});

describe('a boundary', () => {
  it.each(BREACHES)('%s stops %s from importing %s', (rule, from) => {
    expect(breaches).toContain(`${rule} ${from}`);
  });

  it.each(FINE)('lets %s import %s', (from) => {
    expect([...touched]).not.toContain(from);
  });

  it('is tried here, whichever it is', () => {
    const tried = new Set<string | undefined>(BREACHES.map(([rule]) => rule));
    const rows = /^libs-(?!listed|below)/;
    expect(
      forbidden.map(({ name }) => name).filter((name) => name !== undefined && !tried.has(name) && !rows.test(name)),
    ).toEqual([]);
  });
});

function plant(from: string, to: string): void {
  write(from, `import '${specifier(from, to)}';\nexport {};\n`);
  if (/^(libs|apps|deploy|examples|test)\//.test(to)) write(to, 'export {};\n');
  else if (!to.startsWith('.') && !to.startsWith('node:')) write(`node_modules/${to}/index.js`, 'export {};\n');
}

function specifier(from: string, to: string): string {
  if (!/^(libs|apps|deploy|examples|test)\//.test(to)) return to;
  return `${'../'.repeat(from.split('/').length - 1)}${to.replace(/\.ts$/, '.js')}`;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), text);
}
