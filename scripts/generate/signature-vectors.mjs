// Vectors of signatures: keys, what is signed, and the header, from the grammar in libs/kafka/src/signed/signature.ts.
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { sha256, text, uint32 } from './vector-bytes.mjs';

/** What stands before the 32 octets of a private key in its DER form (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SIGNED_AT = 1_767_225_600_000;

const RECORDS = [
  { key: 'run-1', value: Buffer.from('0000000007aabb', 'hex') },
  { key: 'käse', value: Buffer.alloc(300, 0xab) },
  { key: '', value: Buffer.alloc(0) },
];

const digest = (records) =>
  sha256(
    ...records.flatMap(({ key, value }) => [text(key), value]).flatMap((part) => [uint32(part.length), part]),
  ).toString('hex');

export function signatures() {
  const wires = RECORDS.map((record, n) => {
    const signed = `recourse-wire-v1\nrecourse.tool-executions\n${SIGNED_AT}\n${digest([record])}`;
    return vectorOf({ seed: n, topic: 'recourse.tool-executions', partition: null, records: [record], signed });
  });
  const signed = `recourse-log-v1\nrecourse.mutations\n3\n${RECORDS.length}\n${SIGNED_AT}\n${digest(RECORDS)}`;
  const log = vectorOf({ seed: 9, topic: 'recourse.mutations', partition: 3, records: RECORDS, signed });
  return [...wires, log, ...shared('recourse.tool-executions', RECORDS)];
}

/** Three records of a wire under one signature: the tree is ((a b) c). */
function shared(topic, records) {
  const [a, b, c] = records.map(({ key, value }) =>
    sha256(Buffer.from([0]), ...[text(key), value].flatMap((part) => [uint32(part.length), part])),
  );
  const node = (left, right) => sha256(Buffer.from([1]), left, right);
  const signed = `recourse-wires-v1\n${topic}\n3\n${SIGNED_AT}\n${node(node(a, b), c).toString('hex')}`;
  const paths = [[b, c], [a, c], [node(a, b)]];
  return records.map((record, index) => {
    const vector = vectorOf({ seed: 12, topic, partition: null, records: [record], signed });
    const header = vector.header.split(' ').with(3, '3').join(' ');
    return { ...vector, header: `${header} ${index} ${Buffer.concat(paths[index]).toString('base64')}` };
  });
}

function vectorOf({ seed, topic, partition, records, signed }) {
  const secret = sha256(text(`seed ${seed}`));
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, secret]), format: 'der', type: 'pkcs8' });
  const raw = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  const signature = sign(null, text(signed), key).toString('base64');
  return {
    topic,
    partition,
    records: records.map(({ key: name, value }) => ({ key: name, value: value.toString('hex') })),
    private_key: secret.toString('hex'),
    public_key: raw.toString('base64'),
    signed_text: signed,
    header: `v1 key-${seed} ${SIGNED_AT} ${records.length} ${signature}`,
  };
}
