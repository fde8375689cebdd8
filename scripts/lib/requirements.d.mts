import type { Break } from '../../test/breaks/break.js';

/** A row of docs/requirements.yaml; the head of that file says what each field means. */
export interface Requirement {
  readonly id: string;
  readonly text: string;
  readonly tests: readonly QuotedTest[];
  readonly commands: readonly string[];
  readonly checkers: readonly string[];
  readonly mutants: readonly string[];
  readonly byHand: string | null;
  readonly notYet: string | null;
}

export interface QuotedTest {
  readonly spec: string;
  readonly title: string;
}

export function readRequirements(text?: string): readonly Requirement[];
export function servedBy(row: Pick<Break, 'requirement' | 'also'>): readonly string[];
