// Dumps whose files were taken away: what names a log from elsewhere shows that it is gone.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import type { Head } from '@recourse/chain';
import { acceptedInDump } from './accepted.js';
import { PARTITIONS_MAX } from './dump-file.js';
import { auditDump } from './dump.js';
import { recordInDump } from './dump-record.js';
import { logInDump } from './prove.js';
import { leavesIn } from './scratch.js';

const TOPICS = ['recourse.mutations', 'recourse.recoveries'];
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A dump of empty logs, `topic/partition` each, without manifest; its findings. */
async function foundIn(
  held: readonly string[],
  { known = [], only = null }: { readonly known?: readonly string[]; readonly only?: string | null } = {},
): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'recourse-dump-'));
  folders.push(folder);
  for (const name of held) {
    const [topic = '', partition = '0'] = name.split('/');
    const log = { log_id: 'log-1', topic, partition: Number(partition), partition_count: 2 };
    writeFileSync(join(folder, `${topic}-${partition}.jsonl`), `${JSON.stringify({ log })}\n`);
  }
  const head: Head = { seq: 0, hash: Buffer.alloc(32) };
  const reports = await auditDump({
    folder,
    logId: null,
    known: new Map(known.map((name) => [name, [head]])),
    topics: TOPICS,
    only,
  });
  return reports.flatMap(({ topic, partition, findings }) =>
    findings
      .filter(({ kind }) => kind === 'log_missing')
      .map(({ message }) => `${topic}/${String(partition)}: ${message.replace(/.*which /, '')}`),
  );
}
const WHOLE = TOPICS.flatMap((topic) => [`${topic}/0`, `${topic}/1`]);

describe('a dump that logs were taken out of', () => {
  it('misses nothing where all are there', async () => {
    expect(await foundIn(WHOLE, { known: WHOLE })).toEqual([]);
  });

  it('misses a log that an older head names', async () => {
    expect(await foundIn(WHOLE, { known: ['recourse.budgets/3'] })).toEqual([
      'recourse.budgets/3: an older head names',
    ]);
  });

  it('misses a partition that the others count', async () => {
    expect(await foundIn(WHOLE.slice(1))).toEqual(['recourse.mutations/0: the other partitions name']);
  });

  it('misses a log as a whole', async () => {
    expect(await foundIn(WHOLE.slice(0, 2))).toEqual(['recourse.recoveries/0: the list of logs names']);
  });

  it('keeps to one log where one is asked for', async () => {
    const known = ['recourse.budgets/0'];
    expect(await foundIn(WHOLE.slice(1, 2), { known, only: 'recourse.mutations' })).toEqual([
      'recourse.mutations/0: the other partitions name',
    ]);
    expect(await foundIn(WHOLE.slice(0, 2), { known, only: 'recourse.recoveries' })).toEqual([
      'recourse.recoveries/0: the list of logs names',
    ]);
  });
});

describe('a dump with a header that lies about the partitions of its topic', () => {
  const TOPIC = 'recourse.mutations';
  /** Findings of a dump of empty partitions by their names, each with the count that its header states. */
  async function foundWith(counts: readonly (readonly [partition: number, count: number])[]) {
    const folder = mkdtempSync(join(tmpdir(), 'recourse-dump-'));
    folders.push(folder);
    for (const [at, [partition, partition_count]] of counts.entries()) {
      const log = { log_id: 'log-1', topic: TOPIC, partition, partition_count };
      writeFileSync(join(folder, `${String(at)}.jsonl`), `${JSON.stringify({ log })}\n`);
    }
    const reports = await auditDump({ folder, logId: null, known: new Map(), topics: [TOPIC], only: null });
    return reports.flatMap(({ partition, findings }) => findings.map(({ kind }) => `${String(partition)} ${kind}`));
  }

  it('is found where it states fewer than the others, and hides none that are gone', async () => {
    expect(
      await foundWith([
        [0, 3],
        [1, 3],
        [2, 3],
      ]),
    ).toEqual([]);
    for (const lie of [0, 1]) {
      const counts = [0, 1].map((partition) => [partition, partition === lie ? 2 : 3] as const);
      expect(await foundWith(counts)).toEqual([`${String(lie)} damaged_header`, '2 log_missing']);
    }
  });

  it('is found where it is of a partition beyond those that it states', async () => {
    expect(await foundWith([[7, 1]])).toEqual(['7 damaged_header', '0 log_missing']);
  });

  it.each([PARTITIONS_MAX + 1, 2 ** 32, Number.MAX_SAFE_INTEGER])(
    'is found where it states more than any topic has, and none of them is looked for: %s',
    async (count) => {
      expect(await foundWith([[0, count]])).toEqual(['0 damaged_header', '0 log_missing']);
      expect(
        await foundWith([
          [0, 1],
          [count, 1],
        ]),
      ).toEqual(['0 damaged_header']);
    },
  );
});

describe('a dump whose header names a place', () => {
  const named = (topic: string): { readonly folder: string; readonly scratch: string; readonly kept: string } => {
    const root = mkdtempSync(join(tmpdir(), 'recourse-dump-'));
    folders.push(root);
    const [folder, scratch, kept] = ['dump', 'scratch', 'kept'].map((name) => join(root, name)) as [
      string,
      string,
      string,
    ];
    for (const each of [folder, scratch, kept]) mkdirSync(each);
    writeFileSync(join(kept, 'x-0.t0'), 'kept');
    const log = { log_id: 'log-1', topic, partition: 0, partition_count: 1 };
    writeFileSync(join(folder, 'a-0.jsonl'), `${JSON.stringify({ log })}\n`);
    return { folder, scratch, kept };
  };

  it.each(['../kept/x', '/tmp/x', 'a/b', '..', '.', '', 'a\u0000b', 'x'.repeat(250)])(
    'is found, and nothing is written for it: %j',
    async (topic) => {
      const { folder, scratch, kept } = named(topic);
      const asked = {
        folder,
        logId: null,
        known: new Map(),
        topics: [topic],
        only: null,
        scratch: { folder: scratch },
      };
      const kinds = (await auditDump(asked)).flatMap(({ findings }) => findings.map(({ kind }) => kind));
      expect(kinds).toContain('damaged_header');
      expect([readdirSync(scratch), readdirSync(kept)]).toEqual([[], ['x-0.t0']]);
    },
  );

  it('has its hashes in files that no name leads out of their folder', () => {
    const { scratch, kept } = named('x');
    const tree = leavesIn({ folder: scratch }, { topic: '../kept/x', partition: 0 });
    tree.append(Buffer.alloc(32));
    tree.close();
    expect(readdirSync(kept)).toEqual(['x-0.t0']);
    expect(readFileSync(join(kept, 'x-0.t0'), 'utf8')).toBe('kept');
    expect(readdirSync(scratch).length).toBeGreaterThan(0);
  });
});

describe('a dump of which a file is gone, or is no log any more', () => {
  const folderOf = (files: Readonly<Record<string, object>>): string => {
    const folder = mkdtempSync(join(tmpdir(), 'recourse-dump-'));
    folders.push(folder);
    for (const [file, first] of Object.entries(files)) writeFileSync(join(folder, file), `${JSON.stringify(first)}\n`);
    return folder;
  };
  const log = { log_id: 'log-1', topic: 'recourse.mutations', partition: 0, partition_count: 2 };
  const there = { file: 'a.jsonl', topic: log.topic, partition: 1, head_seq: 0, head_hash: '0'.repeat(64) };
  it.each([
    ['which another of its partitions names', { 'a.jsonl': { log } }, 'recourse.mutations/1'],
    [
      'which the manifest names',
      {
        'a.jsonl': { log: { ...log, partition_count: 1 } },
        'manifest.json': { dumped_at: 'now', partitions: [there] },
      },
      'recourse.mutations/1',
    ],
    ['whose header is damaged', { 'a.jsonl': { lag: log } }, 'a.jsonl'],
  ])('tells nothing of the past, %s', async (_what, files, named) => {
    await expect(acceptedInDump({ folder: folderOf(files), signing: null }, TOPICS)).rejects.toMatchObject({
      code: 'DUMP_UNREADABLE',
      message: expect.stringContaining(named),
    });
  });

  it('waits for nothing that is no file', async () => {
    const folder = folderOf({ 'a.jsonl': { log: { ...log, partition_count: 1 } } });
    mkdirSync(join(folder, 'b.jsonl'));
    symlinkSync('/dev/zero', join(folder, 'c.jsonl'));
    expect(await acceptedInDump({ folder, signing: null }, TOPICS)).toEqual([]);
  });
});

describe('a dump that holds a log twice', () => {
  it('is found, and read by nobody: which of the two counts nobody can say', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'recourse-dump-'));
    folders.push(folder);
    const log = { log_id: 'log-1', topic: 'recourse.mutations', partition: 0, partition_count: 1 };
    for (const file of ['recourse.mutations-0.jsonl', 'recourse.mutations-0b.jsonl'])
      writeFileSync(join(folder, file), `${JSON.stringify({ log })}\n`);
    const reports = await auditDump({ folder, logId: null, known: new Map(), topics: TOPICS, only: TOPICS[0] ?? null });
    expect(reports.map(({ findings }) => findings.map(({ kind, message }) => [kind, message]))).toEqual([
      [],
      [
        [
          'partition_repeated',
          'recourse.mutations-0b.jsonl holds this log a second time, beside recourse.mutations-0.jsonl: one of the two was put there',
        ],
      ],
    ]);
    const refused = expect.objectContaining({ code: 'DUMP_UNREADABLE' });
    const place = { log: 'recourse.mutations', partition: 0, seq: 1 };
    const dump = { folder, signing: null };
    await expect(acceptedInDump(dump, TOPICS)).rejects.toEqual(refused);
    await expect(recordInDump(dump, place)).rejects.toEqual(refused);
    await expect(logInDump(dump, place)).rejects.toEqual(refused);
  });
});
