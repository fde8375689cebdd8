export type SuiteKind = 'unit' | 'contract' | 'simulation' | 'integration' | 'e2e';
export const JEST_SUITES: Readonly<
  Record<SuiteKind, { readonly stack: 'none' | 'shared' | 'own'; readonly workers: number }>
>;
export function suiteOf(path: string): SuiteKind | null;
export function specsOf(kind: SuiteKind): readonly string[];
