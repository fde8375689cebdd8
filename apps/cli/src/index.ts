export { run } from './program.js';
export type { PartitionReport } from './audit/report.js';
export { reportSchemas } from './report-schemas.js';
export { auditDump } from './audit/dump.js';
export { createDump } from './audit/dump-writer.js';
export { withScratch } from './audit/scratch.js';
export { auditTopics } from './audit/topics.js';
