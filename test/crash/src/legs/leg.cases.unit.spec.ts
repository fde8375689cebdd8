import { describe, expect, it } from '@jest/globals';
import { LEG_STEPS, legCases, mirrored, MOMENTS, TOOL_KINDS } from './leg.cases.js';
import type { LegCase } from './leg.cases.js';

const all = legCases(200);
const of = (kind: LegCase['kind']): readonly LegCase[] => all.filter((one) => one.kind === kind);
const placeOf = ({ step, moment }: LegCase): string => `${String(step)} ${moment}`;

describe('two hundred kills in the undo of eleven effects', () => {
  it('strike a leg at each of its steps at each moment', () => {
    expect(new Set(of('keyed').map(placeOf)).size).toBe(LEG_STEPS * MOMENTS.length);
  });

  it('strike each step and each moment of tools without keys', () => {
    expect(new Set(of('keyless').map(({ step }) => step)).size).toBe(LEG_STEPS);
    expect(new Set(of('keyless').map(({ moment }) => moment)).size).toBe(MOMENTS.length);
  });

  it('are three of four in legs of tools that take keys', () => {
    expect(TOOL_KINDS.map((kind) => of(kind).length)).toEqual([150, 50]);
  });
});

describe('a few kills', () => {
  it('meet the act of a tool without keys', () => {
    const keyless = legCases(12).filter(({ kind }) => kind === 'keyless');
    expect(keyless.map(({ moment }) => moment)).toEqual(['act asked', 'act done', 'verify asked']);
  });
});

describe('a step', () => {
  it('undoes the last effect first', () => {
    expect([1, LEG_STEPS].map(mirrored)).toEqual([LEG_STEPS, 1]);
  });
});
