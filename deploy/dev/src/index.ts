export { createDatabase, dropDatabase, type DatabaseAddress } from './databases.js';
export { choosePorts, type StackPorts } from './ports.js';
export { startProcesses, type Processes, type ProcessOptions, type ProcessSpec } from './processes.js';
export { provision, topicSpecs, type Catalogue, type DatabaseSpec } from './provision.js';
export { fetchClusterMetadata, type PartitionPlace } from './kafka-metadata.js';
export { startStack, wipe, type DevStack, type PartName, type StackFacts, type StackOptions } from './stack.js';
export {
  factsIn,
  factsOf,
  sharedTestStack,
  startTestStack,
  TEST_STACK_VARIABLE,
  type TestStack,
} from './test-stack.js';
export type { PostgresAddress } from './postgres-server.js';
export { checkPrerequisites, describeProblem, type Problem } from '../../../scripts/lib/prerequisites.mjs';
export { planSystem } from './system.js';
export { SERVICES, type ServiceName, type SystemOptions, type SystemPlan } from './system.plan.js';
export { processName } from './system-processes.js';
