// What is killed, and when.

/** Processes, and the network between services and broker. */
export const TARGETS = [
  'contract-registry',
  'mutation-ledger',
  'recovery-orchestrator',
  'budget-accountant',
  'worker',
  'kafka',
  'postgres',
  'network',
] as const;
export type Target = (typeof TARGETS)[number];

/** Moments of the story, in its order; `random` is any time after the warehouse spoke. */
export const POINTS = [
  'execution published',
  'execution recorded',
  'invalidation published',
  'commit marked',
  'rollback announced',
  'approval asked',
  'approval posted',
  'step approved',
  'leg dispatched',
  'leg requested',
  'effect done',
  'leg reported',
  'verdict recorded',
  'random',
] as const;
export type Point = (typeof POINTS)[number];

/** How the network misbehaves: answers of the broker are lost, connections stall half-open, everything is slow. */
export const DISTURBANCES = ['drop_answers', 'freeze', 'delay'] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

/** The moments at which each target dies, in the order in which they are taken. */
export const POINTS_OF: Readonly<Record<Target, readonly Point[]>> = {
  'mutation-ledger': [
    'invalidation published',
    'execution published',
    'commit marked',
    'leg dispatched',
    'random',
    'leg reported',
    'rollback announced',
    'execution recorded',
  ],
  'recovery-orchestrator': [
    'approval posted',
    'leg dispatched',
    'effect done',
    'commit marked',
    'random',
    'approval asked',
    'leg reported',
    'step approved',
  ],
  worker: ['effect done', 'leg requested', 'random', 'leg dispatched', 'approval posted'],
  kafka: ['approval posted', 'invalidation published', 'leg requested', 'random', 'commit marked'],
  postgres: ['approval posted', 'commit marked', 'effect done', 'execution recorded', 'random'],
  'budget-accountant': ['execution published', 'approval posted', 'effect done', 'random', 'invalidation published'],
  'contract-registry': ['invalidation published', 'execution published', 'approval posted', 'random'],
  network: ['approval posted', 'leg dispatched', 'invalidation published', 'random'],
};
