import type { ProcessIdentity } from './identity.mjs';

export class DataDirectoryBusy extends Error {
  readonly holder: ProcessIdentity;
}
export function busyProblem(
  dataDir: string,
  holder: ProcessIdentity,
): { readonly code: 'DATA_DIR_BUSY'; readonly message: string; readonly remedy: string };
export function judgeLock(
  holder: ProcessIdentity | null,
  runs: (identity: ProcessIdentity) => boolean,
  ownPid: number,
): 'free' | 'stale' | 'busy' | 'own';
export function holderOf(dataDir: string): ProcessIdentity | null;
export function nameOnce(partial: string, file: string): void;
export function takeLock(dataDir: string): () => void;
