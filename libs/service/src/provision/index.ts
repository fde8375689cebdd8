// What a cluster should be, who may do what on it, and what of it is not so. An entry of its own: it needs no framework.
export { plannedAccess } from './access.js';
export { DIFFERENCES, differencesOf } from './differences.js';
export type { ClusterFacts, Difference, DifferenceCode, SubjectFacts } from './differences.js';
export { lookAtCluster } from './look.js';
export { clusterPlanIn } from './plan.js';
export type { ClusterPlan, ClusterUser } from './plan.js';
export { COMPATIBILITY, plannedSubjects, plannedTopics } from './topics.js';
