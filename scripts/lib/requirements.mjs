// docs/requirements.yaml as rows: what holds, the tests that show it, and what does not hold yet.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { root } from './paths.mjs';

const FIELDS = new Set(['text', 'tests', 'commands', 'checkers', 'mutants', 'by hand', 'not yet']);

/** @returns {readonly object[]} rows in the order of the file */
export function readRequirements(text = readFileSync(join(root, 'docs', 'requirements.yaml'), 'utf8')) {
  const document = parseDocument(text);
  // An id that stands twice is one of these errors.
  if (document.errors.length > 0) throw new Error(`docs/requirements.yaml: ${document.errors[0].message}`);
  return Object.entries(document.toJS()).map(([id, row]) => rowOf(id, row));
}

function rowOf(id, row) {
  const unknown = Object.keys(row).filter((field) => !FIELDS.has(field));
  if (unknown.length > 0) throw new Error(`docs/requirements.yaml: ${id} has no field ${unknown.join(', ')}`);
  if (typeof row.text !== 'string') throw new Error(`docs/requirements.yaml: ${id} says nothing; give it a text`);
  const { text, tests = {}, commands = [], checkers = [], mutants = [] } = row;
  const { 'by hand': byHand = null, 'not yet': notYet = null } = row;
  return { id, text, tests: testsOf(tests), commands, checkers, mutants, byHand, notYet };
}

function testsOf(tests) {
  return Object.entries(tests).flatMap(([spec, titles]) => titles.map((title) => ({ spec, title })));
}

/** Ids a break serves: that of its row, and of others it proves as well. */
export function servedBy({ requirement, also = [] }) {
  return requirement === null ? also : [requirement, ...also];
}
