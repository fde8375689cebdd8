export const PUBLISHED: readonly string[];
export function isPublished(path: string): boolean;
export function importsOf(dist: string): ReadonlySet<string>;
export function specifiersOf(text: string): readonly string[];
export function packageOf(specifier: string): string;
