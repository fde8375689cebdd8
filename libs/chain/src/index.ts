export { FRAME_SIZE, frameOf, readHead, schemaIdOf } from './framing.js';
export type { RecordHead } from './framing.js';
export { genesisHash, HASH_SIZE, leafHash, recordHash, sha256 } from './leaf.js';
export type { GenesisOf } from './leaf.js';
export { ChainReader, genesisHead, judge, readRecord } from './acceptance.js';
export type { Head, Verdict } from './acceptance.js';
export {
  consistencyProof,
  inclusionProof,
  isConsistent,
  inclusionProofs,
  isIncluded,
  merkleRoot,
  rootFrom,
  MerkleTree,
  nodeHash,
  splitOf,
} from './merkle.js';
export type { LeafStore } from './leaf-list.js';
export { LogVerifier, verifyLog } from './log-verifier.js';
export type { StoredRecord, VerifiedStart } from './log-verifier.js';
export type { Finding, KnownHead } from './log-findings.js';
