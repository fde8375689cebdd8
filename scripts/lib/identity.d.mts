/** A process and its start, so that a recycled pid is never taken for it. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly started: string;
}
export function startOf(pid: number): string | null;
export function isRunning(identity: ProcessIdentity): boolean;
export function identify(pid: number): ProcessIdentity | null;
export function killGroup(identity: ProcessIdentity, signal: NodeJS.Signals): boolean;
