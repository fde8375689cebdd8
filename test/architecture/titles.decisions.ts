// Titles of the tests in a spec, read from its text: what a quoted test name is held against.
//
// A title is static text, or a template: `%s`, `$name` and `${…}` stand for what a run fills in.
import ts from 'typescript';
import type { SourceText } from './tidy.decisions.js';

export interface Titled {
  readonly kind: 'group' | 'test';
  /** From the outermost group down to its own. */
  readonly titles: readonly string[];
}

/** Stands in a title for what a run fills in. */
export const FILLED = '\u0000';
const KINDS: Readonly<Record<string, Titled['kind']>> = { describe: 'group', it: 'test', test: 'test' };

/** Titles by the text they were read from: many rows quote one spec. */
const read = new Map<string, readonly Titled[]>();

/** All groups and tests of a spec or a suite in TypeScript, or of a spec in Python. */
export function titlesOf(spec: SourceText): readonly Titled[] {
  const titles = read.get(spec.text) ?? (spec.path.endsWith('.py') ? pythonTitles(spec) : jestTitles(spec));
  read.set(spec.text, titles);
  return titles;
}

function pythonTitles({ text }: SourceText): readonly Titled[] {
  return [...text.matchAll(/^ *(?:async )?def (test_\w+)/gm)].map(([, name = '']) => ({
    kind: 'test',
    titles: [name],
  }));
}

function jestTitles({ path, text }: SourceText): readonly Titled[] {
  const found: Titled[] = [];
  const visit = (node: ts.Node, above: readonly string[]): void => {
    if (isTable(node)) tabled(node.initializer, above);
    const call = ts.isCallExpression(node) ? titledCall(node) : null;
    if (call !== null) found.push({ kind: call.kind, titles: [...above, call.title] });
    const inside = call?.kind === 'group' ? [...above, call.title] : above;
    ts.forEachChild(node, (child) => {
      visit(child, inside);
    });
  };
  const tabled = (table: ts.ObjectLiteralExpression, above: readonly string[]): void => {
    for (const one of table.properties) {
      if (!ts.isPropertyAssignment(one) || !ts.isStringLiteralLike(one.name)) continue;
      const titles = [...above, one.name.text];
      const isGroup = ts.isObjectLiteralExpression(one.initializer);
      found.push({ kind: isGroup ? 'group' : 'test', titles });
      if (ts.isObjectLiteralExpression(one.initializer)) tabled(one.initializer, titles);
    }
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest), []);
  return found;
}

/** `const CASES: Cases<…> = {…}`, which `runCases` of libs/testing makes tests of. */
function isTable(node: ts.Node): node is ts.VariableDeclaration & { initializer: ts.ObjectLiteralExpression } {
  if (!ts.isVariableDeclaration(node) || node.type === undefined || node.initializer === undefined) return false;
  const { type, initializer } = node;
  const isCases = ts.isTypeReferenceNode(type) && ts.isIdentifier(type.typeName) && type.typeName.text === 'Cases';
  return isCases && ts.isObjectLiteralExpression(initializer);
}

function titledCall(call: ts.CallExpression): { readonly kind: Titled['kind']; readonly title: string } | null {
  const kind = KINDS[rootName(call.expression)];
  const [first] = call.arguments;
  if (kind === undefined || first === undefined || call.arguments.length < 2) return null;
  const title = textOfTitle(first);
  if (title === null) return null;
  // `it.each(cases)(title, …)`: the callee is itself a call, and `%s` and `$name` are filled in for each case.
  const isEach = ts.isCallExpression(call.expression) || ts.isTaggedTemplateExpression(call.expression);
  return { kind, title: isEach ? title.replace(/%[sdifjoOp#$]|\$[\w.]+/g, FILLED) : title };
}

function rootName(callee: ts.Expression): string {
  if (ts.isIdentifier(callee)) return callee.text;
  if (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) return rootName(callee.expression);
  return ts.isTaggedTemplateExpression(callee) ? rootName(callee.tag) : '';
}

/** Null: a title that no reader can know, such as a variable. */
function textOfTitle(node: ts.Expression): string | null {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return null;
  return node.head.text + node.templateSpans.map((span) => FILLED + span.literal.text).join('');
}
