export type SuiteKind = 'unit' | 'contract' | 'simulation' | 'integration' | 'e2e' | 'deploy';
export const JEST_SUITES: Readonly<
  Record<SuiteKind, { readonly stack: 'none' | 'shared' | 'own'; readonly workers: number; readonly tools?: 'cluster' }>
>;
export function suiteOf(path: string): SuiteKind | null;
export function specsOf(kind: SuiteKind): readonly string[];
export function specsNamed(specs: readonly string[], parts: readonly string[]): readonly string[] | null;
