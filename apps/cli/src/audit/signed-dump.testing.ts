// A dump of one log with the auditor's heads of it, the same each time: for specs, and for the proof that Python checks.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ChainReader, FRAME_SIZE, genesisHead, leafHash, MerkleTree, schemaIdOf } from '@recourse/chain';
import { headText, noteSigner, noteText, verifierText } from '@recourse/audit';
import type { SignedHead, TreeHead } from '@recourse/audit';
import { MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { filesOf } from './dump.js';
import { headerOf, loadedCodecs, recordsIn } from './dump-file.js';

export const LOG = 'recourse.budgets';
export const HEADS = 'recourse.signed-heads';
export const LOG_ID = 'log-1';
/** A private key that is no secret. */
const PEM =
  '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n-----END PRIVATE KEY-----\n';
const SIGNER = noteSigner('auditor.example', 'log', PEM);
/** Another. */
const WITNESS = noteSigner(
  'witness.example',
  'witness',
  '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEICAhIiMkJSYnKCkqKywtLi8wMTIzNDU2Nzg5Ojs8PT4/\n-----END PRIVATE KEY-----\n',
);
export const WITNESS_KEY = verifierText(WITNESS.key);
export const AUDITOR_KEY = verifierText(SIGNER.key);

export interface Line {
  readonly key: Buffer;
  readonly value: Buffer;
}

/** What a dump is made of; `mark` makes its records differ from others in the same places. */
interface Made {
  readonly sizes: readonly number[];
  readonly count?: number;
  readonly mark?: number;
  readonly generation?: number;
  /** Heads of these sizes bear the signature of a witness. */
  readonly witnessed?: readonly number[];
  /** Records from here on are other than those whose roots were signed: their heads name the others, which no witness looks at. */
  readonly forgedFrom?: number;
}

/** A log as its owner writes it. */
export async function writeSignedDump(
  folder: string,
  { sizes, count = sizes.at(-1) ?? 0, mark = 0, generation = 0, witnessed = [], forgedFrom = count }: Made,
): Promise<readonly SignedHead[]> {
  mkdirSync(folder, { recursive: true });
  const registry = new MemoryRegistry().forActor('owner');
  const codecs = createCodecs(registry);
  await codecs.prepareWriter(LOG, { register: true });
  await codecs.prepareWriter(HEADS, { register: true });
  const [write, shown] = [chained(codecs, LOG), chained(codecs, LOG)];
  const tree = new MerkleTree();
  const heads: SignedHead[] = [];
  const records: Line[] = [];
  for (let n = 0; n < count; n += 1) {
    const [seen, key] = [n + 1_000 * mark, `key-${n % 3}`];
    tree.append(write('Progress', { cursors: [], reacted_seq: seen }, key).hash);
    const { line, hash } = shown('Progress', { cursors: [], reacted_seq: n < forgedFrom ? seen : seen + 777 }, key);
    records.push(line);
    if (sizes.includes(n + 1))
      heads.push(signedHead({ size: n + 1, root: tree.root(), head: hash, generation }, witnessed.includes(n + 1)));
  }
  const sign = chained(codecs, HEADS);
  const said = heads.map(
    ({ topic, partition, size, note }) =>
      sign('HeadsSigned', { heads: [{ topic, partition, size, note }] }, 'heads').line,
  );
  for (const [topic, lines] of [
    [LOG, records],
    [HEADS, said],
  ] as const)
    await writeLog(join(folder, `${topic}-0.jsonl`), { topic, lines }, registry);
  return heads;
}

/** Makes the records of a log, each behind the one before. */
export function chained(
  codecs: ReturnType<typeof createCodecs>,
  topic: string,
  logId = LOG_ID,
): (type: string, body: object, key: string) => { readonly line: Line; readonly hash: Buffer } {
  let head = genesisHead({ logId, topic, partition: 0, partitionCount: 1 });
  return (type, body, keyText) => {
    const key = Buffer.from(keyText);
    const value = codecs.encode(topic, type, { seq: head.seq + 1, prev_hash: head.hash, decided_at: 1, ...body });
    const fingerprint = codecs.fingerprintOf(schemaIdOf(value) ?? 0) ?? Buffer.alloc(0);
    head = { seq: head.seq + 1, hash: leafHash(fingerprint, key, value.subarray(FRAME_SIZE)) };
    return { line: { key, value }, hash: head.hash };
  };
}

function signedHead(head: Pick<TreeHead, 'size' | 'root' | 'head' | 'generation'>, isWitnessed: boolean): SignedHead {
  const of = { logId: LOG_ID, topic: LOG, partition: 0 };
  return signed({ ...of, ...head, nextOffset: head.size, firstOffset: 0, signedAt: 1_800_000_000_000 }, isWitnessed);
}

function signed(head: TreeHead, isWitnessed = false): SignedHead {
  const text = headText(head);
  const signers = isWitnessed ? [SIGNER, WITNESS] : [SIGNER];
  return { ...head, note: noteText({ text, signatures: signers.map((one) => one.sign(text, 1_800_000_000)) }) };
}

/** Heads of all logs of a dump as they end, signed by the auditor, and by a witness; of those that `isSigned` names. */
export async function headsOverDump(
  folder: string,
  isSigned: (topic: string) => boolean = () => true,
  { isWitnessed = false, generation = 0 }: { readonly isWitnessed?: boolean; readonly generation?: number } = {},
): Promise<readonly SignedHead[]> {
  const heads: SignedHead[] = [];
  for (const file of filesOf(folder)) {
    const path = join(folder, file);
    const of = headerOf(path);
    if (of === null || !isSigned(of.topic)) continue;
    const chain = new ChainReader(genesisHead(of), (await loadedCodecs(path)).fingerprintOf);
    const tree = new MerkleTree();
    for (const record of recordsIn(path, () => undefined))
      if (chain.read(record).kind === 'accepted') tree.append(chain.head.hash);
    const { logId, topic, partition } = of;
    const { seq: size, hash: head } = chain.head;
    const place = { logId, topic, partition, generation };
    const said = { ...place, size, root: tree.root(), head, nextOffset: size, firstOffset: 0, signedAt: 1 };
    heads.push(signed(said, isWitnessed));
  }
  return heads;
}

/** The file of a log in a dump. */
export async function writeLog(
  path: string,
  {
    topic,
    lines,
    logId = LOG_ID,
  }: { readonly topic: string; readonly lines: readonly Line[]; readonly logId?: string },
  registry: { schemaById(id: number): Promise<string> },
): Promise<void> {
  const ids = [...new Set(lines.map(({ value }) => schemaIdOf(value) ?? 0))];
  const schemas = await Promise.all(ids.map(async (id) => ({ schema: { id, text: await registry.schemaById(id) } })));
  const all = [
    { log: { log_id: logId, topic, partition: 0, partition_count: 1 } },
    ...schemas,
    ...lines.map(({ key, value }, offset) => ({
      record: { offset, key: key.toString('base64'), value: value.toString('base64') },
    })),
  ];
  writeFileSync(path, all.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
