export const JAVA_MAJOR_MIN: number;
export const NODE_MAJOR_MIN: number;

export interface Java {
  readonly bin: string;
  readonly home: string;
  readonly major: number;
}

/** Something the machine lacks. `message` says what, `remedy` what to do about it. */
export interface Problem {
  readonly code: 'PLATFORM' | 'NODE' | 'JAVA' | 'MAVEN' | 'DISK' | 'DATA_DIR' | 'DATA_DIR_BUSY';
  readonly message: string;
  readonly remedy: string;
}

export function javaMajor(text: string): number | null;
export function mavenVersion(text: string): readonly [number, number] | null;
export function findJava(options?: {
  readonly minimum?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly candidates?: readonly string[];
}): { readonly java: Java | null; readonly seen: readonly { readonly bin: string; readonly major: number | null }[] };
export function findMaven(env?: NodeJS.ProcessEnv): string | null;
export function checkPrerequisites(options?: {
  readonly dataDir?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly nodeVersion?: string;
}): readonly Problem[];
export function describeProblem(problem: Problem): string;
