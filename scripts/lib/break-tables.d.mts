import type { Break } from '../../test/breaks/break.js';

export function readBreaks(): Promise<readonly (Break & { readonly table: string })[]>;
export function occurrences(text: string, find: string): number;
export function applyBreak(text: string, row: Pick<Break, 'find' | 'replace'>): string;
