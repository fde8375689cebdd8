export { ACCESS, accessOf, accessRefusal } from './edge/access.js';
export type { AccessTable } from './edge/access.js';
export { createAuthenticate } from './edge/authenticate.js';
export { directoryIn } from './edge/directory.js';
export { keysOfFile } from './edge/issuer-keys.js';
export { tokenCheck } from './edge/token-check.js';
export type { TokenCheck } from './edge/token-check.js';
export type { Submission } from './edge/command-edge.js';
export { seesAllTenants, tenantOfCommand, tenantOfRead } from './edge/principal.js';
export { ALL_TENANTS, ROLES } from './edge/roles.js';
export type { Principal } from './edge/principal.js';
export type { Role } from './edge/roles.js';
export { LIMIT_RATES, Limits } from './edge/limits.js';
export type { LimitRates } from './edge/limits.js';
export { EDGE_REFUSALS, EdgeRefusal } from './edge/problem.js';
export { render } from './edge/render.js';
export type { Rendered } from './edge/render.js';
export {
  anyJson,
  bounded,
  entriesIn,
  hashHex,
  idText,
  instant,
  openApiSchema,
  parse,
  reasonText,
  runText,
  subjectText,
  tenantText,
} from './edge/validate.js';
export { FromCaller } from './inbound/http/caller.js';
export type { Caller } from './inbound/http/caller.js';
export { Commands } from './inbound/http/commands.js';
export {
  cursorText,
  pageCursorText,
  partitionNumber,
  placeText,
  readCursor,
  readPageCursor,
} from './inbound/http/cursor.js';
export type { CursorHint } from './inbound/http/cursor.js';
export type { Answers } from './inbound/http/docs.js';
export { listsController } from './inbound/http/lists.js';
export type { ListSpec, Named } from './inbound/http/lists.js';
export { CommandRoute, Given, Id, Queried, ReadRoute } from './inbound/http/routes.js';
export { verbsController } from './inbound/http/verbs.js';
export { offersOf, readerOf } from './inbound/http/reader.js';
export type { Offers, Reader } from './inbound/http/reader.js';
export { oneQuery, pageQuery, Reads } from './inbound/http/reads.js';
export type { ListAnswer } from './inbound/http/reads.js';
export { coded, createPool, inTransaction, LISTS, SUMS } from './outbound/postgres-connection.js';
export { mendedStore } from './outbound/mended-stores.js';
export { migrate, PostgresDatabase } from './outbound/postgres-database.js';
export { PostgresKeyStore } from './outbound/postgres-key-store.js';
export { shapeOf, tableOf } from './outbound/postgres-schema.js';
export type { ProjectedView } from './outbound/postgres-schema.js';
export { docOf } from './outbound/postgres-statements.js';
export { manualReport } from './manual-reasons.js';
export type { ManualReason, ManualReport } from './manual-reasons.js';
export { anyPartition, pageStatement } from './outbound/page-statements.js';
export { limitTo, literals, NOW_MS, numberOrNull, Parameters, Queries, whereOf } from './outbound/sql.js';
export type { Limited, Query } from './outbound/sql.js';
export type { PageQuery, PlacedRow } from './projection-reads.js';
export { databaseUrlOf, EDGE_CONFIG, LEASE_CONFIG, limitsOf, SERVICE_CONFIG } from './service-config.js';
export { SERVICE_CONTEXT } from './service-context.js';
export type { EdgeContext, ServiceContext } from './service-context.js';
export { ServiceModule } from './service.module.js';
export { patiently } from './patiently.js';
export { PartitionCounts } from './partition-counts.js';
export { ALL_SCHEMAS_KNOWN, knownSchemas } from './known-schemas.js';
export type { KnownSchemas } from './known-schemas.js';
export { connectKafka, createEdge, runProcess, serviceSigning } from './process.js';
export { ProgramHost } from './program-host.js';
export type { RunningProgram, Trouble } from './running-service.js';
export { runService } from './run-service.js';
export type { ServiceSpec } from './run-service.js';
