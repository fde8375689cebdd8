// An audit over a real broker: a log written as its owner writes it, verified, dumped, verified without a network, tampered with.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestStack } from '@recourse/dev-stack';
import type { TestStack } from '@recourse/dev-stack';
import { OwnLog } from '@recourse/event-log';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { run } from './program.js';

// The names of logs are the catalogue's, so this suite has a stack of its own.
const LOG = 'recourse.budgets';
const RECORDS = 5;
const folder = mkdtempSync(join(tmpdir(), 'recourse-cli-'));
let stack: TestStack;
let logId: string;

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly note: string;
}

async function recourse(...args: readonly string[]): Promise<Ended> {
  const [out, note]: [string[], string[]] = [[], []];
  const code = await run(args, {
    terminal: {
      out: (text) => {
        out.push(text);
      },
      note: (text) => {
        note.push(text);
      },
      isInteractive: false,
      ask: () => Promise.reject(new Error('nobody is asked')),
    },
    environment: {
      RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
      RECOURSE_REGISTRY_URL: stack.registryUrl,
      RECOURSE_LOG_ID: logId,
    },
    folder,
    fetch,
  });
  return { code, out: out.join('\n'), note: note.join('\n') };
}

/** Five records in one batch. */
async function writeLog(): Promise<void> {
  const kafka = createKafka({ brokers: stack.kafka.brokers, clientId: 'cli-spec' });
  const admin = await kafka.admin();
  await admin.ensureTopics([{ name: LOG, partitions: 1 }]);
  await admin.close();
  const registry = createSchemaRegistry({ url: stack.registryUrl, timeoutMs: 30_000 });
  const codecs = createCodecs(registry);
  await codecs.prepareWriter(LOG, { register: true });
  const log = new OwnLog({ kafka, codecs, topic: LOG, partition: 0, partitionCount: 1, logId });
  await log.prepare();
  for await (const records of log.read(log.origin())) expect(records).toEqual([]);
  const batch = log.seal(1_000);
  for (let n = 0; n < RECORDS; n += 1)
    batch.add({ type: 'Progress', body: { cursors: [], reacted_seq: n } }, 'progress');
  expect(await log.append(batch)).toBe('accepted');
  await log.close();
}

function dumpFile(): string {
  return join(folder, 'dump', `${LOG}-0.jsonl`);
}

/** Flips one bit of the last octet of a record in the dump. */
function flipByte(offset: number): void {
  const lines = readFileSync(dumpFile(), 'utf8')
    .split('\n')
    .map((line) => {
      if (!line.includes(`"record":{"offset":${offset},`)) return line;
      const entry = JSON.parse(line) as { record: { value: string } };
      const value = Buffer.from(entry.record.value, 'base64');
      value[value.length - 1]! ^= 1;
      return JSON.stringify({ record: { ...entry.record, value: value.toString('base64') } });
    });
  writeFileSync(dumpFile(), lines.join('\n'));
}

beforeAll(async () => {
  stack = await startTestStack();
  logId = 'cli-spec';
  await writeLog();
}, 120_000);

afterAll(async () => {
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

describe('an audit of a log on a broker', () => {
  it('finds nothing in a sound log', async () => {
    const { code, out } = await recourse('audit', 'verify', '--log', LOG, '--json');
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      partitions: [{ topic: LOG, partition: 0, accepted: RECORDS, void: 0, head_seq: RECORDS, findings: [] }],
    });
    expect(code).toBe(0);
    writeFileSync(join(folder, 'earlier.json'), out);
  }, 60_000);

  it('says so when the log is of another id', async () => {
    const { code, out } = await recourse('audit', 'verify', '--log', LOG, '--log-id', 'another');
    expect(out).toContain('foreign_genesis');
    expect(code).toBe(1);
  }, 60_000);

  it('dumps it, with what a reader needs who has no network', async () => {
    const { out } = await recourse('audit', 'dump', 'dump', '--json');
    expect(JSON.parse(out).partitions).toContainEqual(
      expect.objectContaining({ topic: LOG, accepted: RECORDS, findings: [] }),
    );
    expect(readdirSync(join(folder, 'dump'))).toContain('manifest.json');
    expect(
      readFileSync(dumpFile(), 'utf8')
        .split('\n')
        .map((line) => Object.keys(JSON.parse(line === '' ? '{}' : line) as object)[0]),
    ).toEqual(['log', 'schema', ...Array.from({ length: RECORDS }, () => 'record'), undefined]);
    expect((await recourse('audit', 'dump', 'dump')).note).toContain('FOLDER_NOT_EMPTY');
  }, 60_000);

  it('verifies the dump without a network, also against an earlier audit', async () => {
    const { code, out } = await recourse(
      'audit',
      'verify',
      '--dump',
      'dump',
      '--against',
      'earlier.json',
      '--log',
      LOG,
      '--brokers',
      'nobody:1',
      '--json',
      '--log-id',
      logId,
    );
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      partitions: expect.arrayContaining([expect.objectContaining({ topic: LOG, accepted: RECORDS })]),
    });
    expect(code).toBe(0);
  });

  it.each([
    [1, 2],
    [RECORDS - 1, RECORDS],
  ])('names a flipped byte at offset %d', async (offset, seq) => {
    flipByte(offset);
    const { code, out } = await recourse('audit', 'verify', '--dump', 'dump', '--json');
    const findings = reportOf(out).find(({ topic }) => topic === LOG)?.findings;
    // The last record is committed to by the manifest's head alone.
    expect(findings).toContainEqual(
      expect.objectContaining({ kind: offset === RECORDS - 1 ? 'rewritten' : 'flipped', seq }),
    );
    expect(code).toBe(1);
    flipByte(offset);
  });

  it('names a tail that was cut off', async () => {
    const whole = readFileSync(dumpFile(), 'utf8');
    writeFileSync(dumpFile(), whole.trimEnd().split('\n').slice(0, -2).join('\n'));
    const { code, out } = await recourse('audit', 'verify', '--dump', 'dump', '--json');
    expect(reportOf(out).flatMap(({ findings }) => findings)).toContainEqual(
      expect.objectContaining({ kind: 'cut_tail', seq: RECORDS - 1, lastSeq: RECORDS }),
    );
    expect(code).toBe(1);
    writeFileSync(dumpFile(), whole);
  });
});

interface Reported {
  readonly topic: string;
  readonly findings: readonly unknown[];
}

// The command printed it; a spec that reads another shape fails.
function reportOf(out: string): readonly Reported[] {
  return (JSON.parse(out) as { readonly partitions: readonly Reported[] }).partitions;
}
