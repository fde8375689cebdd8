export interface Importer {
  readonly path: string;
  readonly package: string;
  readonly imports: readonly string[];
}
export function upwardImports(files: readonly Importer[]): readonly { readonly from: string; readonly to: string }[];
