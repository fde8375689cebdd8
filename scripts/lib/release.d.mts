interface Versioned {
  readonly version: string;
  readonly packages?: Readonly<Record<string, { readonly version?: string }>>;
}
export function nextVersion(current: string, wish: string): string;
export function releaseNotes(
  changelog: string,
  version: string,
  date: string,
): { readonly changelog: string; readonly notes: string };
export function withVersion<Json extends Versioned>(json: Json, version: string): Json;
