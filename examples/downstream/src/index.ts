// The refund reports of a downstream service, for whoever runs them: a process, or a spec.
export { RefundReports } from './reports.js';
export type { Published, Refund, Report, ReportRows } from './reports.js';
export { openDatabase, PostgresReportRows } from './outbound/report-rows.postgres.js';
export { startDownstream } from './downstream.js';
export type { DownstreamOptions } from './downstream.js';
