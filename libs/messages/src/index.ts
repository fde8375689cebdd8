export * from './generated/index.js';
export { VERBS } from './generated/verbs.js';
export type { Verb, VerbField } from './verb.js';
export { ownerOfLog, recordsOf, shortName } from './catalogue.js';
export { bodyReader } from './body-reader.js';
export { createCodecs, recordOf } from './codecs.js';
export { BodyUnfit } from './writers.js';
export type { BadReason, Codecs, Decoded, DecodedRecord, SchemaSource } from './codecs.js';
export { schemaIdOf } from '@recourse/chain';
export { recoveryIdOf, rollbackIdOf } from './ids.js';
export { lossReader } from './loss-reader.js';
export { bodyIn, recordIn } from './records.js';
export { muteProblem, speakerProblem } from './speakers.js';
export type { BodyOf, ChainField, DecodedBody, RecordOf, RecordTypeOf } from './records.js';
export {
  announcedIn,
  announcedTogether,
  fallenIn,
  fellTogether,
  isSameReason,
  movedIn,
  plannedIn,
  plannedTogether,
  rolledBackIn,
  rolledBackTogether,
  settledIn,
  settledTogether,
} from './members.js';
export type { Announced, Fallen, Moved, NoticeOf, Planned, RolledBack, Settled } from './members.js';
