export * from './generated/index.js';
export { createCodecs, recordOf, recordsOf } from './codecs.js';
export type { BadReason, Codecs, Decoded, DecodedRecord, ForeignRecord, SchemaSource } from './codecs.js';
export { FRAME_SIZE, frameOf, readHead, schemaIdOf } from '@recourse/chain';
export type { RecordHead } from '@recourse/chain';
export { bodyIn, recordIn } from './records.js';
export type { BodyOf, ChainField, DecodedBody, RecordOf, RecordTypeOf } from './records.js';
