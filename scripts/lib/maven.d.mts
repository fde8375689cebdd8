import type { Artifacts } from './artifacts.mjs';

export function fetchArtifacts(say?: (line: string) => void): Promise<Artifacts>;
