export {
  alarmNote,
  AUDITOR_ACTOR,
  closingNote,
  isPersonsName,
  readSignedAlarm,
  readSignedClosing,
} from './alarm-note.js';
export type { AlarmSaid, ClosingSaid } from './alarm-note.js';
export { HashTree } from './hash-tree.js';
export { headsText, notesIn, readHeads, textPieces } from './heads-file.js';
export { NodeFiles, NodeList } from './node-store.js';
export { isSignedBy, noteSigner, noteText, parseNote, parseVerifier, verifierText } from './note.js';
export type { NoteKey, NoteRole, NoteSignature, NoteSigner } from './note.js';
export { checkProof, extendsHead, parseProof, PROOF_PROBLEMS } from './proof.js';
export type { Proof, ProofProblem, ProofTrust } from './proof.js';
export { headText, isCosigned, knownHeadOf, originOf, parseHeadText, readSignedHead, treeName } from './tree-head.js';
export type { SignedHead, TreeHead } from './tree-head.js';
export { wireLeaf } from './wire-leaf.js';
export type { WireRecord } from './wire-leaf.js';
