export interface StartOptions {
  readonly once: boolean;
  readonly scenario: string;
  readonly breakWhat: string | null;
  readonly secure: boolean;
  readonly reset: boolean;
  readonly help: boolean;
  /** Absolute. */
  readonly dataDir: string;
}
export const HELP: string;
export const SCENARIOS: readonly string[];
export const BREAKS: readonly string[];
export function parseStartOptions(
  args: readonly string[],
  environment?: Readonly<Record<string, string | undefined>>,
): StartOptions;
