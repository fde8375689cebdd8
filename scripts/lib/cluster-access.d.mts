/** What is read of a topic of schemas/topics.json. */
export interface CatalogueTopic {
  readonly name: string;
  readonly kind: 'wire' | 'log' | 'derived';
  readonly written_by: string;
  readonly read_by: string;
}

/** What one service, or anybody of one role, may do. Names of topics, sorted. */
export interface Access {
  readonly name: string;
  readonly reads: readonly string[];
  readonly writes: readonly string[];
}

export interface ClusterAccess {
  /** Programs of ours, by name. */
  readonly services: readonly Access[];
  /** Those outside: producer, worker, consumer, auditor. */
  readonly roles: readonly Access[];
}

/** The access that every service and role has. Errors: a word of the catalogue that is nobody's name. */
export function clusterAccess(topics: readonly CatalogueTopic[]): ClusterAccess;

/** `recourse.tool-requests.` of a topic that stands for its siblings; null for any other. */
export function familyOf(name: string): string | null;
