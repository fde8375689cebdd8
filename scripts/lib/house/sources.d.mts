export type Kind = 'product' | 'example' | 'script' | 'proof' | 'spec' | 'generated';
export interface Source {
  readonly path: string;
  readonly kind: Kind;
  readonly package: string;
  readonly text: string;
}
export function kindOf(path: string): Kind;
export function packageOf(path: string): string;
