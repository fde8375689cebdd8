// Every kind of item that the notifier lists has words, and a screen that knows it.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { KINDS } from '../words/kinds.js';
import { PLACES } from './item.reads.js';
import { isSameItem, phaseWords, screenOf } from './item.rules.js';

interface Parameter {
  readonly name: string;
  readonly schema: { readonly enum?: readonly string[] };
}

/** Kinds as the notifier's OpenAPI document lists them. */
function kindsListed(): readonly string[] {
  const text = readFileSync(new URL('../../../../docs/reference/openapi/notifier.json', import.meta.url), 'utf8');
  const document = JSON.parse(text) as {
    readonly paths: Readonly<Record<string, { readonly get: { readonly parameters: readonly Parameter[] } }>>;
  };
  return document.paths['/v1/items']?.get.parameters.find(({ name }) => name === 'kind')?.schema.enum ?? [];
}

/** Ended at the command line alone: the screen of the item says how. */
const ENDED_ELSEWHERE: readonly string[] = ['alarm'];

describe('items', () => {
  it('of every kind that is listed have words of their own, and lead to a screen that knows them', () => {
    const kinds = kindsListed();
    expect(kinds).toEqual(expect.arrayContaining(['approval', 'freeze', 'alarm', 'parked']));
    expect(kinds.filter((kind) => !Object.hasOwn(KINDS, kind))).toEqual([]);
    const isKnown = (kind: string): boolean =>
      screenOf(kind) !== 'item' || Object.hasOwn(PLACES, kind) || ENDED_ELSEWHERE.includes(kind);
    expect(kinds.filter((kind) => !isKnown(kind))).toEqual([]);
    expect(['approval', 'freeze', 'parked', 'task'].map(screenOf)).toEqual(['review', 'autonomy', 'audit', 'item']);
  });

  const ASKED = { phase: 'awaiting', action_digest: 'ab', required_approvals: 2, approvals: [] as readonly object[] };

  it.each([
    ['it is past that', { phase: 'approved' }],
    ['it is about another action', { action_digest: 'cd' }],
    ['fewer have to agree', { required_approvals: 1 }],
    ['somebody agreed', { approvals: [{ by: 'ravi' }] }],
  ])('are others than somebody read once %s', (_why, more) => {
    expect(isSameItem(ASKED, { ...ASKED })).toBe(true);
    expect(isSameItem(ASKED, { ...ASKED, ...more })).toBe(false);
  });

  it('that are over say how they are', () => {
    expect([phaseWords({ phase: 'rejected' }), phaseWords({})]).toEqual([
      ': it is rejected',
      ': people are asked nothing about it any more',
    ]);
  });
});
