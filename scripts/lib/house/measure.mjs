// What the house script counts in one text. Pure: functions over texts that are formatted already.
import ts from 'typescript';

/** @typedef {{name: string, line: number, lines: number}} LongFunction */

/** @param {string} text @returns {number} */
export function linesOf(text) {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

/**
 * Functions, methods, accessors, constructors and arrows with a body, from their first line to their last. A function inside
 * a long one counts for itself as well.
 *
 * @param {string} path
 * @param {string} text
 * @param {number} linesMax
 * @returns {readonly LongFunction[]}
 */
export function functionsOver(path, text, linesMax) {
  const file = parse(path, text);
  const found = [];
  visit(file, (node) => {
    if (!ts.isFunctionLike(node) || node.body === undefined) return;
    const first = lineOf(file, node.getStart(file));
    const lines = lineOf(file, node.end) - first + 1;
    if (lines > linesMax) found.push({ name: nameOf(node), line: first, lines });
  });
  return found;
}

/** @param {string} path @param {string} text @returns {readonly number[]} lines with an `as unknown as` */
export function blindCasts(path, text) {
  const file = parse(path, text);
  const found = [];
  visit(file, (node) => {
    const isBlind =
      ts.isAsExpression(node) &&
      ts.isAsExpression(node.expression) &&
      node.expression.type.kind === ts.SyntaxKind.UnknownKeyword;
    if (isBlind) found.push(lineOf(file, node.expression.type.getStart(file)));
  });
  return found;
}

/**
 * Top-level statements that name the verb: an identifier or a string equal to the record's name, or a string that is the word
 * people ask with (`escalate`), alone or first in it. An import is a place too: somebody writes it.
 *
 * @param {string} path
 * @param {string} text
 * @param {{record: string, word: string}} verb
 * @returns {readonly number[]} first line of each
 */
export function placesOf(path, text, { record, word }) {
  const file = parse(path, text);
  const names = (node) => {
    if (ts.isIdentifier(node)) return node.text === record;
    return ts.isStringLiteralLike(node) && (node.text === record || node.text.split(' ')[0] === word);
  };
  return file.statements.filter((one) => some(one, names)).map((one) => lineOf(file, one.getStart(file)));
}

/** @param {string} text @returns {readonly string[]} specifiers of relative imports and exports, once each */
export function relativeImports(text) {
  const imported = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  return [...new Set(imported.filter((specifier) => specifier.startsWith('.')))];
}

const parse = (path, text) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
const lineOf = (file, position) => file.getLineAndCharacterOfPosition(position).line + 1;

function visit(node, see) {
  see(node);
  ts.forEachChild(node, (child) => visit(child, see));
}

function some(node, test) {
  return test(node) || ts.forEachChild(node, (child) => (some(child, test) ? true : undefined)) === true;
}

/** What a reader would call the function: its own name, or that of what it is assigned to. */
function nameOf(node) {
  const named = node.name ?? node.parent?.name;
  return named === undefined || named.text === undefined ? '(anonymous)' : named.text;
}
