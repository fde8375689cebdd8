// A dump of a log that its owner signs, verified with a keyring on a machine that has nothing else.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry, signedKafka, testKeys } from '@recourse/kafka';
import type { Kafka, Signing } from '@recourse/kafka';
import { ManualClock } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { OPERATOR, resolveSettings } from '../config.js';
import { desk, table } from '../desk.testing.js';
import { writeSecureStack } from '../stack.testing.js';
import { acceptedInDump } from './accepted.js';
import { auditDump } from './dump.js';
import type { Manifest } from './dump.js';
import { recordInDump } from './dump-record.js';
import { createDump } from './dump-writer.js';
import { logInDump } from './prove.js';
import type { AuditReport, PartitionReport } from './report.js';
import { chained, LOG, LOG_ID } from './signed-dump.testing.js';
import type { Line } from './signed-dump.testing.js';
import { auditTopics } from './topics.js';

const keys = testKeys({
  accountant: { role: 'service', names: ['budget-accountant'] },
  ledger: { role: 'service', names: ['mutation-ledger'] },
});
const clock = new ManualClock(Date.parse('2026-05-01T12:00:00Z'));
const signingAs = (id: string): Signing => ({
  signer: keys.signer(id),
  keyring: () => keys.keyring,
  ownerOf: (topic) => (topic === LOG ? 'budget-accountant' : null),
  clock,
});
const signing = signingAs('accountant');
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

class Scene {
  readonly broker = new MemoryBroker({});
  readonly registry = new MemoryRegistry().forActor('spec');

  /** Batches by who appends them; a stranger has no key. */
  async append(batches: readonly (readonly [by: string, lines: number])[]): Promise<this> {
    const codecs = createCodecs(this.registry);
    await codecs.prepareWriter(LOG, { register: true });
    await (await this.raw().admin()).ensureTopics([{ name: LOG, partitions: 1 }]);
    const next = chained(codecs, LOG);
    let count = 0;
    for (const [by, size] of batches) {
      const lines: Line[] = [];
      for (let n = 0; n < size; n += 1) {
        count += 1;
        lines.push(next('Progress', { cursors: [], reacted_seq: count }, 'key').line);
      }
      const kafka = by === 'stranger' ? this.raw() : signedKafka(this.raw(), signingAs(by));
      await (await kafka.logProducer()).send(LOG, 0, lines);
    }
    return this;
  }

  raw(): Kafka {
    return this.broker.forActor('spec');
  }

  /** Dumps what lies there, whoever wrote it, and says whose keys tell what counts. */
  async dumped(by: Signing | null): Promise<{ readonly folder: string; readonly reports: readonly PartitionReport[] }> {
    const folder = mkdtempSync(join(tmpdir(), 'recourse-signatures-'));
    folders.push(folder);
    const writer = createDump(folder, this.registry);
    const reports = await auditTopics({
      kafka: this.raw(),
      registry: this.registry,
      logId: LOG_ID,
      topics: [LOG],
      known: new Map(),
      dump: { writer, signing: by },
    });
    writer.close();
    return { folder, reports };
  }

  async dump(): Promise<string> {
    return (await this.dumped(null)).folder;
  }

  /** What the audit of the cluster finds, with the same keys. */
  async online(): Promise<readonly PartitionReport[]> {
    const kafka = signedKafka(this.raw(), signing);
    return auditTopics({ kafka, registry: this.registry, logId: LOG_ID, topics: [LOG], known: new Map() });
  }
}

const verify = (folder: string, by: Signing | null = signing): Promise<readonly PartitionReport[]> =>
  auditDump({ folder, logId: LOG_ID, known: new Map(), topics: [LOG], only: LOG, signing: by });
const told = (reports: readonly PartitionReport[]) =>
  reports.map(({ accepted, void: voids, head_hash: head, findings }) => ({
    accepted,
    voids,
    head,
    kinds: findings.map(({ kind }) => kind),
  }));

/** Rewrites the file of the log, line by line. */
function edit(folder: string, change: (line: string, index: number) => string): void {
  const path = join(folder, `${LOG}-0.jsonl`);
  writeFileSync(path, readFileSync(path, 'utf8').split('\n').map(change).join('\n'));
}

/** A dump of two records of the owner and one of somebody without a key. */
const strangersDump = async (): Promise<string> => {
  const scene = await new Scene().append([
    ['accountant', 2],
    ['stranger', 1],
  ]);
  return scene.dump();
};

/** What `recourse audit verify` prints of a dump. */
async function said(
  folder: string,
  more: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { call, out } = desk(table({}), { environment, folder });
  await call('audit', 'verify', '--dump', folder, '--log', LOG, ...more);
  return out();
}

/** The command printed it; a spec that reads another shape fails. */
const kindsIn = (json: string): readonly string[] =>
  (JSON.parse(json) as AuditReport).partitions.flatMap(({ findings }) => findings.map(({ kind }) => kind));

async function pagesOf<Page>(pages: AsyncIterable<Page>): Promise<readonly Page[]> {
  const found: Page[] = [];
  for await (const page of pages) found.push(page);
  return found;
}

describe('a dump of a signed log', () => {
  it('is sound with the keyring where its owner signed all of it', async () => {
    const scene = await new Scene().append([
      ['accountant', 3],
      ['accountant', 1],
      ['accountant', 40],
    ]);
    const found = await verify(await scene.dump());
    expect(told(found)).toEqual(told(await scene.online()));
    expect(found).toMatchObject([{ accepted: 44, void: 0, findings: [] }]);
  });

  it.each(['stranger', 'ledger'])(
    'shows what follows the head and was appended by a %s, as the log itself does',
    async (by) => {
      const scene = await new Scene().append([
        ['accountant', 3],
        [by, 2],
      ]);
      const folder = await scene.dump();
      expect(await verify(folder, null)).toMatchObject([{ accepted: 5, findings: [] }]);
      // The manifest was written by somebody who asked no keys: its head is the stranger's.
      rmSync(join(folder, 'manifest.json'));
      const found = await verify(folder);
      expect(told(found)).toEqual(told(await scene.online()));
      expect(found).toMatchObject([{ accepted: 3, void: 2 }]);
      expect(found[0]?.findings.map(({ kind }) => kind)).toContain('unreadable');
    },
  );

  it('holds what nobody vouches for as it lies, and its manifest and report say what counts by the keyring', async () => {
    const scene = await new Scene().append([
      ['accountant', 3],
      ['stranger', 2],
      ['accountant', 1],
    ]);
    const { folder, reports } = await scene.dumped(signing);
    const file = `${LOG}-0.jsonl`;
    expect(readFileSync(join(folder, file))).toEqual(readFileSync(join(await scene.dump(), file)));
    expect(told(reports)).toEqual(told(await scene.online()));
    expect(told(await verify(folder))).toEqual(told(reports));
    expect(reports).toMatchObject([{ accepted: 3, void: 3 }]);
    const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as Manifest;
    expect(manifest.partitions).toMatchObject([{ head_seq: 3, head_hash: reports[0]?.head_hash }]);
  });

  it('proves and finds with the keyring what its owner signed alone, and tells nothing while another wrote in it', async () => {
    const folder = await strangersDump();
    const place = { log: LOG, partition: 0, seq: 3 };
    const [unasked, asked] = [
      { folder, signing: null },
      { folder, signing },
    ];
    expect(await acceptedInDump(unasked, [LOG])).toHaveLength(3);
    await expect(acceptedInDump(asked, [LOG])).rejects.toEqual(expect.objectContaining({ code: 'LOG_NOT_SOUND' }));
    expect(await recordInDump(unasked, place)).not.toBeNull();
    expect(await recordInDump(asked, place)).toBeNull();
    const values: unknown[] = [];
    for await (const page of (await logInDump(asked, place)).records) values.push(...page.map(({ value }) => value));
    expect(values.map((value) => value === null)).toEqual([false, false, true]);
  });

  it('is one log for whoever reads it: a record put in with an offset that was passed is found, and nothing is told of it', async () => {
    const folder = await (await new Scene().append([['accountant', 4]])).dump();
    const file = join(folder, `${LOG}-0.jsonl`);
    const lines = readFileSync(file, 'utf8').split('\n');
    const last = lines.findLastIndex((line) => line.startsWith('{"record"'));
    // The last record under an early offset, and behind it the last but one, as if it followed.
    const moved = [lines[last] ?? '', lines[last - 1] ?? ''];
    moved[0] = moved[0]?.replace('"offset":3', '"offset":0') ?? '';
    writeFileSync(file, [...lines.slice(0, last - 1), ...moved, ...lines.slice(last)].join('\n'));
    for (const by of [null, signing]) {
      const [report] = await verify(folder, by);
      expect(report?.findings.map(({ kind }) => kind)).toEqual(['damaged_line']);
      const refused = expect.objectContaining({ code: 'DUMP_UNREADABLE' });
      const [dump, place] = [
        { folder, signing: by },
        { log: LOG, partition: 0, seq: 4 },
      ];
      await expect(acceptedInDump(dump, [LOG])).rejects.toEqual(refused);
      await expect(recordInDump(dump, place)).rejects.toEqual(refused);
      const { records } = await logInDump(dump, place);
      await expect(pagesOf(records)).rejects.toEqual(refused);
    }
  });

  it('shows a signature that was put on other records', async () => {
    const scene = await new Scene().append([
      ['accountant', 2],
      ['accountant', 2],
    ]);
    const folder = await scene.dump();
    const signatures = readFileSync(join(folder, `${LOG}-0.jsonl`), 'utf8').match(/"signature":"[^"]+"/g) ?? [];
    expect(signatures).toHaveLength(2);
    edit(folder, (line) => line.replace(signatures[1] ?? '', signatures[0] ?? ''));
    expect(await verify(folder)).toMatchObject([{ accepted: 2, void: 2 }]);
  });

  it('shows a batch whose last record was taken away', async () => {
    const folder = await (await new Scene().append([['accountant', 3]])).dump();
    const path = join(folder, `${LOG}-0.jsonl`);
    writeFileSync(path, `${readFileSync(path, 'utf8').trimEnd().split('\n').slice(0, -1).join('\n')}\n`);
    expect(await verify(folder)).toMatchObject([{ accepted: 0, void: 2 }]);
  });

  it('that lost all its signatures is told as such, and is not sound', async () => {
    const folder = await (await new Scene().append([['accountant', 3]])).dump();
    edit(folder, (line) => line.replace(/,"signature":"[^"]+"/, ''));
    const [report] = await verify(folder);
    expect(report?.findings.map(({ kind }) => kind)).toEqual(['signatures_missing']);
    expect(report).toMatchObject({ accepted: 3 });
  });

  it('that lost all its signatures is read by nobody with the keyring: neither told, nor looked into, nor proved from', async () => {
    const folder = await (await new Scene().append([['accountant', 3]])).dump();
    edit(folder, (line) => line.replace(/,"signature":"[^"]+"/, ''));
    const place = { log: LOG, partition: 0, seq: 3 };
    const stripped = { folder, signing };
    const refused = expect.objectContaining({ code: 'DUMP_UNREADABLE', message: expect.stringContaining(`${LOG}/0`) });
    await expect(acceptedInDump(stripped, [LOG])).rejects.toEqual(refused);
    await expect(recordInDump(stripped, place)).rejects.toEqual(refused);
    await expect(logInDump(stripped, place)).rejects.toEqual(refused);
    // Without a keyring nobody can tell, and of a log that has no owner nobody signs.
    expect(await acceptedInDump({ folder, signing: null }, [LOG])).toHaveLength(3);
    expect(await acceptedInDump({ folder, signing: { ...signing, ownerOf: () => null } }, [LOG])).toHaveLength(3);
  });

  it('is asked of by the command line with the keyring that its environment names', async () => {
    const folder = await strangersDump();
    const keyring = join(folder, 'keyring.json');
    writeFileSync(keyring, keys.text);
    expect(kindsIn(await said(folder, ['--json']))).toEqual([]);
    expect(kindsIn(await said(folder, ['--json'], { RECOURSE_KEYRING_FILE: keyring }))).toContain('unreadable');
  });

  it('needs no signature where nothing is in it', async () => {
    expect(await verify(await (await new Scene().append([])).dump())).toMatchObject([{ accepted: 0, findings: [] }]);
  });
});

describe('an audit by the command line', () => {
  const stackOf = (logId: string): string => {
    const stack = mkdtempSync(join(tmpdir(), 'recourse-stack-'));
    folders.push(stack);
    writeSecureStack(stack, { keys, users: ['accountant'], logId });
    return stack;
  };

  it('takes the keyring of the development stack whose logs it reads', async () => {
    const folder = await strangersDump();
    const own = JSON.parse(await said(folder, ['--json', '--data-dir', stackOf(LOG_ID)])) as AuditReport;
    expect(own).toMatchObject({ ok: false, signatures: 'checked', partitions: [{ accepted: 2, void: 1 }] });
    // A stack that happens to run here says nothing about the logs of another.
    const other = JSON.parse(await said(folder, ['--json', '--data-dir', stackOf('other')])) as AuditReport;
    expect(other).toMatchObject({ signatures: 'not_checked', partitions: [{ accepted: 3, void: 0 }] });
  });

  it('believes at the brokers what the keyring of the stack does', async () => {
    const scene = await new Scene().append([
      ['accountant', 2],
      ['stranger', 2],
    ]);
    const by = resolveSettings({ dataDir: stackOf(LOG_ID) }, {}, '/').signing({ user: OPERATOR });
    expect(by).toMatchObject({ signer: null });
    if (by === null) return;
    const kafka = signedKafka(scene.raw(), { ...by, ownerOf: signing.ownerOf });
    const asked = { kafka, registry: scene.registry, logId: LOG_ID, topics: [LOG], known: new Map() };
    expect(await auditTopics(asked)).toMatchObject([{ accepted: 2, void: 2 }]);
  });

  it('says last that no keyring was read, where none was, and says it to scripts', async () => {
    const folder = await strangersDump();
    const last = (text: string): string => text.split('\n').at(-1) ?? '';
    expect(last(await said(folder, []))).toMatch(/^SIGNATURES NOT CHECKED: .*RECOURSE_KEYRING_FILE/);
    expect(JSON.parse(await said(folder, ['--json']))).toMatchObject({ ok: true, signatures: 'not_checked' });
    expect(await said(folder, ['--data-dir', stackOf(LOG_ID)])).not.toContain('NOT CHECKED');
  });
});
