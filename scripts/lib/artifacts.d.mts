/** Folders with the jars of Kafka and the unpacked registry. */
export interface Artifacts {
  readonly kafka: string;
  readonly registry: string;
}
export function pinnedVersion(pom: string): string;
export function artifactFolders(): Artifacts;
export function artifactsPresent(): boolean;
