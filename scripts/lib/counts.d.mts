export interface Counts {
  readonly passed: number;
  readonly failed: number;
}
export function settleCounts(counted: Counts | null, exitCode: number): Counts;
export function countsIn(output: string): Counts | null;
export function jestCounts(kind: string): Counts | null;
export function sumCounts(all: readonly Counts[]): Counts;
export function lastLine(counts: Counts): string;
