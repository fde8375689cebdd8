export function findChromium(
  env?: Readonly<Record<string, string | undefined>>,
  exists?: (path: string) => boolean,
): string | null;
export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly exists: (path: string) => boolean;
  readonly isRoot: boolean;
  readonly apt: (args: readonly string[]) => boolean;
}
export function lackOfChromium(given?: Partial<Machine>): string | null;
