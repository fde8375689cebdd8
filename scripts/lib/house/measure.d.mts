export interface LongFunction {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
}
export function linesOf(text: string): number;
export function functionsOver(path: string, text: string, linesMax: number): readonly LongFunction[];
export function blindCasts(path: string, text: string): readonly number[];
export function placesOf(
  path: string,
  text: string,
  verb: { readonly record: string; readonly word: string },
): readonly number[];
export function relativeImports(text: string): readonly string[];
