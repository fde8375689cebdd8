// schemas/vectors/: what every implementation in every language must agree on. Built here from the grammar alone, sharing
// no code with libs/, so that TypeScript and Python are both checked against a third.
//
// In JSON: bytes and fixed are lower-case hex; longs are numbers below 2^53; a key is text (UTF-8).
import { messageNames } from './catalogue.mjs';
import { signatures } from './signature-vectors.mjs';
import { acceptance, genesisHashes, leafHashes, merkleRoots, partitions } from './chain-vectors.mjs';
import { effectKeys } from './effect-key-vectors.mjs';
import { versionsOf } from './history.mjs';
import { canonicalForms, fingerprintVector, frames } from './schema-vectors.mjs';

const FOLDER = 'schemas/vectors';

/** Vectors that rest on no schema of ours. */
function chainFiles() {
  return [
    file('canonical-forms', 'Parsing Canonical Form and its SHA-256.', canonicalForms()),
    file(
      'leaf-hashes',
      'SHA-256(0x00, then fingerprint, key and Avro bytes, each after its length as uint32).',
      leafHashes(),
    ),
    file(
      'signatures',
      'Header `recourse-signature` of a record of a wire, and of the first record of a batch of a log.',
      signatures(),
    ),
    file('genesis-hashes', 'prev_hash of the first record of a partition.', genesisHashes()),
    file('partitions', 'Partition of a key: (murmur2(UTF-8 bytes) & 0x7fffffff) mod count.', partitions()),
    file(
      'acceptance',
      'Records of a partition in offset order and what a reader makes of each; it stops at unknown_schema.',
      acceptance(),
    ),
    file('merkle-roots', 'RFC 6962 roots over the first n leaf hashes.', merkleRoots()),
    file(
      'effect-keys',
      'eff_ + hex SHA-256 of the canonical JSON (RFC 8785) of [step, capability, target, hex SHA-256 of the canonical JSON of args]; mut_ + the first 32 hex digits of SHA-256 over tenant, run and key, each after its length in UTF-16 units and a colon.',
      effectKeys(),
    ),
  ];
}

/** Vector files, as `{ path, text }`. */
export function vectorFiles(root, catalogue) {
  const released = messageNames(catalogue).flatMap((message) =>
    versionsOf(root, message).map((entry) => ({ message, ...entry })),
  );
  return [
    file(
      'frames',
      'Framed values. `body` is the record; `schema` is schemas/history/<message>/<version>.avsc.',
      released.flatMap(frames),
    ),
    file(
      'fingerprints',
      'SHA-256 of the Parsing Canonical Form of schemas/history/<message>/<version>.avsc.',
      released.map(fingerprintVector),
    ),
    ...chainFiles(),
  ];
}

const file = (name, doc, vectors) => ({
  path: `${FOLDER}/${name}.json`,
  text: `${JSON.stringify({ doc, vectors }, null, 1)}\n`,
});
