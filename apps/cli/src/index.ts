export { run } from './program.js';
export { EXIT_CODES } from './problem.js';
export type { ExitKind } from './problem.js';
export type { Surroundings } from './session.js';
export type { Terminal } from './output/terminal.js';
export type { AuditReport, PartitionReport } from './audit/report.js';
export { reportSchemas } from './report-schemas.js';
