// The auditor: signs what extends what it signed, resumes from its own heads, and raises what was done to a log.
import { describe, expect, it } from '@jest/globals';
import {
  alarmNote,
  closingNote,
  isSignedBy,
  knownHeadOf,
  noteSigner,
  notesIn,
  parseNote,
  readSignedAlarm,
  readSignedClosing,
} from '@recourse/audit';
import { Failure } from '@recourse/kernel';
import { AuditedCluster, freshPem, LOG, WIRE } from './auditor.testing.js';
import type { BookRecord } from './book/head-book.js';
import type { Witness } from './witness/cosigners.js';

const turnsOf = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1)
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
};

describe('an auditor', () => {
  it('signs every partition that has grown, and nothing twice', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(3);
    await cluster.write(2, { partition: 1 });
    await cluster.turn();
    await cluster.turn();
    expect([cluster.sizes(), cluster.sizes(LOG, 1)]).toEqual([[3], [2]]);
    await cluster.write(4);
    await cluster.turn();
    expect([cluster.sizes(), cluster.sizes(LOG, 1)]).toEqual([[3, 7], [2]]);
    expect(cluster.kept.map(({ size }) => size)).toEqual([3, 2, 7]);
    expect(cluster.alarms()).toEqual([]);
  });

  it('looks again when there are news, or after a second', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.turn();
    const news = Promise.withResolvers<undefined>();
    const second = Promise.withResolvers<undefined>();
    let rests = 0;
    cluster.rests = {
      sleep: (ms) => (ms === 500 ? turnsOf(1) : second.promise),
      news: () => {
        rests += 1;
        return rests === 1 ? news.promise : new Promise(() => undefined);
      },
    };
    await cluster.restart();
    cluster.auditor.start();
    await turnsOf(100);
    await cluster.write(3);
    await turnsOf(100);
    expect([rests, cluster.sizes()]).toEqual([1, []]);
    await cluster.clock.advance(1_000);
    news.resolve(undefined);
    await turnsOf(100);
    expect([rests, cluster.sizes()]).toEqual([2, [3]]);
    const stopping = cluster.auditor.stop();
    second.resolve(undefined);
    await stopping;
  });

  it('commits to the last record of a log by its hash, and to the bytes of a wire', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(3);
    await cluster.send(WIRE, ['a', 'b']);
    await cluster.turn();
    const [head] = cluster.book.signed({ topic: LOG, partition: 0 }).heads;
    expect(head && knownHeadOf(head)?.hash.equals(cluster.headOf().hash)).toBe(true);
    expect(cluster.book.signed({ topic: WIRE, partition: 0 }).heads[0]).toMatchObject({ size: 2, head: null });
  });

  it('resumes from its own heads after a kill, with its trees and without them', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(300);
    await cluster.turn();
    await cluster.restart();
    await cluster.write(5);
    await cluster.turn();
    await cluster.restart({ withoutTrees: true });
    await cluster.write(5);
    await cluster.turn();
    expect(cluster.sizes()).toEqual([300, 305, 310]);
    expect(cluster.alarms()).toEqual([]);
  });
});

describe('an auditor whose clock was a day ahead', () => {
  const DAY_MS = 86_400_000;

  it('goes on signing once it is put right, and what it writes never goes back in time', async () => {
    const cluster = await AuditedCluster.start();
    const rightly = cluster.clock.now();
    await cluster.write(2);
    cluster.clock.set(rightly + DAY_MS);
    await cluster.turn();
    cluster.clock.set(rightly);
    await cluster.write(1);
    await cluster.turn();
    await cluster.restart();
    await cluster.write(1);
    await cluster.turn();
    expect(cluster.sizes()).toEqual([2, 3, 4]);
    const { heads } = cluster.book.signed({ topic: LOG, partition: 0 });
    const instants = [...heads.map(({ signedAt }) => signedAt), ...(await cluster.decidedAt())];
    expect(instants.map((at) => at - rightly)).toEqual(Array(6).fill(DAY_MS + 1_000));
  });
});

describe('an auditor whose stored tree is not what it signed', () => {
  it('says so, reads the log anew, and signs on', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(3);
    await cluster.turn();
    cluster.spoilTree(`${LOG}/0`);
    await cluster.write(3);
    await cluster.turn();
    expect([cluster.sizes(), cluster.auditor.health()]).toMatchObject([
      [3],
      { ready: false, trouble: { [`${LOG}/0`]: 'TREE_DAMAGED' } },
    ]);
    await cluster.write(1);
    await cluster.turn();
    expect([cluster.sizes(), cluster.alarms(), cluster.auditor.health()]).toMatchObject([
      [3, 7],
      [],
      { ready: true, trouble: {} },
    ]);
  });

  it('goes on from what it signed where the disk was full in the middle of a batch, and others are signed meanwhile', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.send(WIRE, ['a', 'b', 'c']);
    await cluster.turn();
    await cluster.send(WIRE, ['d', 'e', 'f', 'g']);
    await cluster.write(2);
    cluster.fillDisk(`${WIRE}/0`, 2);
    await cluster.turn();
    expect([cluster.sizes(WIRE), cluster.sizes(), cluster.auditor.health()]).toMatchObject([
      [3],
      [2],
      { ready: false, trouble: { [`${WIRE}/0`]: 'INTERNAL' } },
    ]);
    await cluster.turn();
    expect([cluster.sizes(WIRE), cluster.alarms(), cluster.auditor.health()]).toMatchObject([
      [3, 7],
      [],
      { ready: true, trouble: {} },
    ]);
  });
});

describe('an auditor whose file of heads cannot be written', () => {
  it('raises what it finds, signs on, and says so until it can (P11)', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(5);
    await cluster.turn();
    const push = cluster.kept.push.bind(cluster.kept);
    cluster.kept.push = () => {
      throw new Error('ENOSPC: no space left on device');
    };
    cluster.cut(2);
    await cluster.write(1, { partition: 1 });
    await cluster.turn();
    expect([cluster.alarms(), cluster.sizes(LOG, 1), cluster.auditor.health()]).toMatchObject([
      [`cut_tail in ${LOG}/0`],
      [1],
      { ready: false, trouble: { 'heads.notes': 'HEADS_NOT_KEPT' } },
    ]);
    cluster.kept.push = push;
    await cluster.write(1, { partition: 1 });
    await cluster.turn();
    expect(cluster.auditor.health()).toMatchObject({ ready: true, trouble: {} });
  });
});

describe('an auditor whose broker says where logs end, and hands out nothing', () => {
  it('is not ready and says why, raises no alarm, and goes on once it has them', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(8);
    await cluster.send(WIRE, ['a']);
    await cluster.turn();
    cluster.handsOutNothing = true;
    await cluster.turn();
    expect([cluster.alarms(), cluster.auditor.health()]).toMatchObject([
      [],
      { ready: false, trouble: { [`${LOG}/0`]: 'BROKER_UNAVAILABLE' } },
    ]);
    await cluster.write(2);
    cluster.handsOutNothing = false;
    await cluster.turn();
    expect([cluster.sizes(), cluster.alarms(), cluster.auditor.health()]).toMatchObject([
      [8, 10],
      [],
      { ready: true, trouble: {} },
    ]);
  });
});

describe('an auditor that is told to stop while it reads', () => {
  it('looks at no further partition, signs nothing, and complains of nothing that was closed meanwhile', async () => {
    const cluster = await AuditedCluster.start();
    for (const partition of [0, 1]) await cluster.write(2, { partition });
    let reads = 0;
    cluster.onRead = () => {
      reads += 1;
      void cluster.auditor.stop();
      throw new Failure('BROKER_UNAVAILABLE', 'the reader is closed');
    };
    await cluster.turn();
    expect([reads, cluster.sizes(), cluster.sizes(LOG, 1), cluster.trouble]).toEqual([1, [], [], []]);
  });
});

describe('an alarm', () => {
  it('is raised on a tail that was cut, and nothing is signed behind it', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(8);
    await cluster.turn();
    cluster.cut(5);
    await cluster.turn();
    expect(cluster.alarms()).toEqual([`cut_tail in ${LOG}/0`]);
    await cluster.write(9, { mark: 1 });
    await cluster.turn();
    expect(cluster.sizes()).toEqual([8]);
  });

  it('is raised on a log that was cut and grew on, also while nobody looked', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(4);
    await cluster.turn();
    const head = cluster.headOf();
    await cluster.write(4);
    await cluster.turn();
    await cluster.restart();
    cluster.cut(4, 0, head);
    await cluster.write(9, { mark: 1 });
    await cluster.turn();
    expect(cluster.alarms()).toEqual([`regrown in ${LOG}/0`]);
    expect(cluster.sizes()).toEqual([4, 8]);
  });

  it('is raised on a log that was written anew, with a valid chain', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(4);
    await cluster.turn();
    cluster.cut(0);
    await cluster.write(6, { mark: 1 });
    await cluster.turn();
    expect(cluster.alarms()).toEqual([`rewritten in ${LOG}/0`]);
  });

  it('is raised on a log of which the last signed record was replaced by the end of a transaction', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(8);
    await cluster.turn();
    cluster.cut(7);
    cluster.broker.transaction(LOG, 0, []).abort();
    await cluster.turn();
    expect([cluster.alarms(), cluster.auditor.health().trouble]).toEqual([[`cut_tail in ${LOG}/0`], {}]);
  });

  it('calls it a restored backup when several logs lost their tails at once', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(4);
    await cluster.write(4, { partition: 1 });
    await cluster.turn();
    cluster.cut(2);
    cluster.cut(2, 1);
    await cluster.turn();
    expect(cluster.alarms()).toEqual([`restored_backup in ${LOG}/0`, `restored_backup in ${LOG}/1`]);
  });

  it('of a restored backup is one per log and kind, however the restored logs grow on, until a person closes it', async () => {
    const cluster = await AuditedCluster.start();
    for (const partition of [0, 1]) await cluster.write(2, { partition });
    const heads = [cluster.headOf(0), cluster.headOf(1)];
    for (const partition of [0, 1]) await cluster.write(6, { partition });
    await cluster.turn();
    for (const [partition, head] of heads.entries()) cluster.cut(2, partition, head);
    for (let grown = 0; grown < 8; grown += 1) {
      await cluster.turn();
      await cluster.write(1, { mark: 1 });
      if (grown % 2 === 0) await cluster.write(1, { partition: 1, mark: 1 });
    }
    expect(cluster.alarms()).toEqual([
      `restored_backup in ${LOG}/0`,
      `restored_backup in ${LOG}/1`,
      `rewritten in ${LOG}/0`,
    ]);
    await cluster.close('ada');
    await cluster.turn();
    await cluster.turn();
    expect([cluster.alarms(), cluster.sizes(), cluster.sizes(LOG, 1)]).toEqual([[], [10], [6]]);
  });

  it('that a person closed is raised anew where the same backup is restored once more', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(4);
    const head = cluster.headOf();
    for (const restored of [1, 2]) {
      await cluster.write(4);
      await cluster.turn();
      cluster.cut(4, 0, head);
      await cluster.turn();
      expect([restored, cluster.alarms()]).toEqual([restored, [`cut_tail in ${LOG}/0`]]);
      await cluster.close('ada');
      await cluster.turn();
    }
  });

  it('is raised on what a stranger writes, once, and on a rate of void records until it is over', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(200);
    await cluster.send(
      LOG,
      Array.from({ length: 40 }, () => 'no record'),
    );
    await cluster.turn();
    await cluster.turn();
    const strangers = cluster.alarms().filter((alarm) => alarm.startsWith('unreadable'));
    expect(strangers).toHaveLength(1);
    expect(cluster.alarms()).toContain(`void_rate in ${LOG}/0`);
    await cluster.write(2_500);
    await cluster.turn();
    expect(cluster.alarms()).not.toContain(`void_rate in ${LOG}/0`);
    expect(cluster.sizes().at(-1)).toBe(2_700);
  });

  it('is raised on a wire that was cut', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.send(WIRE, ['a', 'b', 'c']);
    await cluster.turn();
    cluster.broker.truncate(WIRE, 0, 1);
    await cluster.turn();
    expect(cluster.alarms()).toEqual([`cut_tail in ${WIRE}/0`]);
    await cluster.close('ada');
    await cluster.turn();
    await cluster.turn();
    expect([cluster.alarms(), cluster.sizes(WIRE)]).toEqual([[], [1]]);
  });

  it('is raised on a wire of which the last signed record was replaced by the end of a transaction, and on none that ends with one (P11)', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.send(WIRE, ['a', 'b', 'c']);
    for (let ends = 0; ends < 3; ends += 1) cluster.broker.transaction(WIRE, 0, []).abort();
    await cluster.turn();
    await cluster.restart();
    await cluster.send(WIRE, ['d']);
    await cluster.turn();
    await cluster.turn();
    expect([cluster.sizes(WIRE), cluster.alarms(), cluster.auditor.health().trouble]).toEqual([[3, 4], [], {}]);
    cluster.broker.truncate(WIRE, 0, 6);
    cluster.broker.transaction(WIRE, 0, []).abort();
    await cluster.turn();
    expect([cluster.alarms(), cluster.sizes(WIRE)]).toEqual([[`regrown in ${WIRE}/0`], [3, 4]]);
  });

  it('is raised on a wire of which nothing but ends of transactions is left, and on none that retention emptied so', async () => {
    for (const [isTrimmed, alarms] of [
      [false, [`regrown in ${WIRE}/0`]],
      [true, []],
    ] as const) {
      const cluster = await AuditedCluster.start();
      await cluster.send(WIRE, ['a']);
      cluster.broker.transaction(WIRE, 0, []).abort();
      await cluster.turn();
      if (isTrimmed) cluster.broker.trim(WIRE, 0, 1);
      else {
        cluster.broker.truncate(WIRE, 0, 0);
        for (let ends = 0; ends < 2; ends += 1) cluster.broker.transaction(WIRE, 0, []).abort();
      }
      await cluster.turn();
      expect(cluster.alarms()).toEqual(alarms);
    }
  });

  it('is raised on no wire with a batch nobody can read, which is the same after a restart; and on one whose bytes were altered', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.send(WIRE, ['a', 'b']);
    cluster.broker.spoil(WIRE, 0, 1, { detail: 'it ends inside a block', bytes: Buffer.from('as it is stored') });
    await cluster.turn();
    for (const withoutTrees of [false, true]) {
      await cluster.restart({ withoutTrees });
      cluster.broker.spoil(WIRE, 0, 1, { detail: 'in other words', bytes: Buffer.from('as it is stored') });
      await cluster.turn();
    }
    expect([cluster.sizes(WIRE), cluster.alarms()]).toEqual([[2], []]);
    cluster.broker.spoil(WIRE, 0, 1, { detail: 'in other words', bytes: Buffer.from('as it was altered') });
    await cluster.restart();
    await cluster.turn();
    expect(cluster.alarms()).toEqual([`regrown in ${WIRE}/0`]);
  });

  it('is raised on heads that its log lost and its file has', async () => {
    const cluster = await AuditedCluster.start();
    for (let heads = 0; heads < 3; heads += 1) {
      await cluster.write(4);
      await cluster.turn();
    }
    cluster.broker.truncate('recourse.signed-heads', 0, 0);
    await cluster.restart({ withKept: true });
    await cluster.turn();
    expect(cluster.alarms()).toEqual([`heads_lost in ${LOG}/0`]);
    await cluster.close('ada');
    await cluster.turn();
    await cluster.restart({ withKept: true });
    await cluster.turn();
    expect(cluster.alarms()).toEqual([]);
  });

  it('that a person closed begins another generation of heads, and is not raised again', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(8);
    await cluster.turn();
    cluster.cut(0);
    await cluster.write(3, { mark: 1 });
    await cluster.turn();
    await cluster.close('ada');
    await cluster.turn();
    await cluster.turn();
    expect(cluster.alarms()).toEqual([]);
    expect(cluster.book.signed({ topic: LOG, partition: 0 })).toMatchObject({ generation: 1, heads: [{ size: 3 }] });
  });
});

const PLACE = { topic: LOG, partition: 0 };
/** Also an id that the auditor gives: a stranger can work it out. */
const raisedBy = (id: string, note: string | null = null): BookRecord => ({
  type: 'AlarmRaised',
  body: {
    ...{ alarm_id: id, tenant: '*', run_id: '', finding: 'rewritten', ...PLACE, first_seq: 8, offset: null },
    ...{ detail: 'made up', owner: 'role:operator', deadline_at: 1, note },
  },
});
const closedBy = (id: string, by = 'ada', note: string | null = null): BookRecord => ({
  type: 'AlarmClosed',
  body: { alarm_id: id, by, reason: 'made up', note },
});
const rewrite = async (cluster: AuditedCluster): Promise<void> => {
  cluster.cut(0);
  await cluster.write(8, { mark: 1 });
};
/** A log of eight records, signed and then written anew, and the alarm on that. */
const found = async (): Promise<{ cluster: AuditedCluster; id: string; note: string | null }> => {
  const cluster = await AuditedCluster.start();
  await cluster.write(8);
  await cluster.turn();
  await rewrite(cluster);
  await cluster.turn();
  const [{ alarm_id: id, note } = { alarm_id: '', note: null }] = await cluster.raised();
  return { cluster, id, note };
};
const generation = (cluster: AuditedCluster): number => cluster.book.signed(PLACE).generation;

describe('an alarm that somebody else wrote into the log of heads', () => {
  it('gives up no head once it is closed, and the log that was written anew is found (P11)', async () => {
    const cluster = await AuditedCluster.start();
    await cluster.write(8);
    await cluster.turn();
    await cluster.forge([raisedBy('alm_x'), closedBy('alm_x')]);
    await rewrite(cluster);
    await cluster.turn();
    await cluster.turn();
    expect([cluster.alarms(), cluster.sizes(), generation(cluster)]).toEqual([[`rewritten in ${LOG}/0`], [8], 0]);
  });

  it('is nobody’s with the note of another alarm, of a head, or of another key', async () => {
    const { cluster, note } = await found();
    const stranger = noteSigner('auditor.spec', 'log', freshPem());
    const forged = alarmNote({ logId: 'log-1', ...PLACE, generation: 0, id: 'alm_x', finding: 'rewritten' }, stranger);
    for (const [n, one] of [note, cluster.kept[0]?.note ?? '', forged, 'no note'].entries())
      await cluster.forge([raisedBy(`alm_${n}`, one), closedBy(`alm_${n}`)]);
    await cluster.turn();
    expect([cluster.alarms(), cluster.sizes(), generation(cluster)]).toEqual([[`rewritten in ${LOG}/0`], [8], 0]);
  });

  it('silences none that the auditor raises, under the same id, open or closed', async () => {
    const { id } = await found();
    for (const records of [[raisedBy(id)], [raisedBy(id), closedBy(id)]]) {
      const cluster = await AuditedCluster.start();
      await cluster.write(8);
      await cluster.turn();
      await cluster.forge(records);
      await rewrite(cluster);
      await cluster.turn();
      expect((await cluster.raised()).filter(({ note }) => note !== null)).toMatchObject([{ alarm_id: id }]);
      await cluster.forge([raisedBy(id)]);
      await cluster.close('ada');
      await cluster.turn();
      await cluster.turn();
      expect([cluster.alarms(), generation(cluster)]).toEqual([[], 1]);
    }
  });

  it('gives up no others where it is one that the auditor had raised of heads before them', async () => {
    const { cluster, id, note } = await found();
    await cluster.close('ada');
    await cluster.turn();
    await cluster.turn();
    expect([generation(cluster), cluster.sizes()]).toEqual([1, [8]]);
    await cluster.forge([raisedBy(id, note), closedBy(id)]);
    cluster.cut(0);
    await cluster.write(9, { mark: 2 });
    await cluster.turn();
    expect([cluster.alarms(), generation(cluster), cluster.sizes()]).toEqual([[`rewritten in ${LOG}/0`], 1, [8]]);
  });
});

describe('that an alarm is closed', () => {
  const OPEN = [`rewritten in ${LOG}/0`];

  it('counts with a note of the auditor alone, which signs what a person said: who, when and which (P11)', async () => {
    const { cluster, id } = await found();
    await cluster.close('ada');
    await cluster.auditor.turn();
    expect([cluster.alarms(), generation(cluster)]).toEqual([[], 1]);
    const [said, signed, ...more] = await cluster.closings();
    expect([said?.note, signed?.by, signed?.reason, more]).toEqual([null, 'ada', 'looked at', []]);
    const at = cluster.clock.now();
    expect(readSignedClosing(signed?.note ?? '', [cluster.signer.key])).toEqual({ logId: 'log-1', id, at, by: 'ada' });
    await cluster.restart();
    await cluster.turn();
    expect([cluster.alarms(), generation(cluster), (await cluster.closings()).length]).toEqual([[], 1, 2]);
  });

  it('in the name of the auditor and without its note hides none, before and after a restart', async () => {
    const { cluster, id } = await found();
    // It stands for a turn: what stood is not raised again by itself.
    await cluster.turn();
    await cluster.forge([closedBy(id, 'service:auditor')]);
    await cluster.turn();
    await cluster.turn();
    expect([cluster.alarms(), generation(cluster)]).toEqual([OPEN, 0]);
    await cluster.restart();
    await cluster.turn();
    expect([cluster.alarms(), generation(cluster)]).toEqual([OPEN, 0]);
  });

  it('with a note that is not the auditor’s closes none, which is raised again for who has no key', async () => {
    const { cluster, id } = await found();
    const stranger = noteSigner('auditor.spec', 'log', freshPem());
    const said = { logId: 'log-1', id, at: 9e12, by: 'ada' };
    const others = closingNote({ ...said, id: 'alm_other' }, cluster.signer);
    const notes = ['no note', closingNote(said, stranger), others, closingNote({ ...said, by: 'bob' }, cluster.signer)];
    for (const [n, note] of notes.entries()) {
      await cluster.forge([closedBy(id, 'ada', note)]);
      await cluster.turn();
      await cluster.turn();
      expect([cluster.alarms(), generation(cluster)]).toEqual([OPEN, 0]);
      expect((await cluster.raised()).map(({ alarm_id: of }) => of)).toEqual(Array(n + 2).fill(id));
    }
    await cluster.close('ada');
    await cluster.turn();
    expect([cluster.alarms(), generation(cluster)]).toEqual([[], 1]);
  });

  it('closes none that was raised since: a note is of what stood before it', async () => {
    const cluster = await AuditedCluster.start();
    const rate = [`void_rate in ${LOG}/0`];
    const voids = (): Promise<void> => cluster.send(LOG, Array<string>(40).fill('no record'));
    await cluster.write(200);
    await voids();
    await cluster.turn();
    await cluster.write(2_500);
    await cluster.turn();
    expect(cluster.alarms()).not.toEqual(expect.arrayContaining(rate));
    for (let n = 0; n < 10; n += 1) await voids();
    await cluster.turn();
    expect(cluster.alarms()).toEqual(expect.arrayContaining(rate));
    await cluster.turn();
    const [replayed] = (await cluster.closings()).filter(({ by }) => by === 'service:auditor');
    await cluster.forge(replayed === undefined ? [] : [{ type: 'AlarmClosed', body: replayed }]);
    await cluster.turn();
    expect([replayed !== undefined, cluster.alarms()]).toEqual([true, expect.arrayContaining(rate)]);
  });

  it('is said by a name of one line, and by nobody where it is none', async () => {
    const { cluster, id } = await found();
    for (const by of ['', '  ', 'ada\nbob', 'a'.repeat(201)]) await cluster.forge([closedBy(id, by)]);
    await cluster.turn();
    expect([cluster.alarms(), (await cluster.closings()).filter(({ note }) => note !== null)]).toEqual([OPEN, []]);
    const reason = 'r'.repeat(900_000);
    await cluster.forge([{ type: 'AlarmClosed', body: { alarm_id: id, by: 'ada', reason, note: null } }]);
    await cluster.turn();
    expect([cluster.alarms(), (await cluster.closings()).at(-1)?.reason.length]).toEqual([[], 500]);
  });

  it('is signed by the auditor that comes up after it was said, also of what an earlier version took for closed', async () => {
    const { cluster, id } = await found();
    await cluster.forge([closedBy(id)]);
    await cluster.restart();
    await cluster.turn();
    expect([cluster.alarms(), generation(cluster), (await cluster.closings()).length]).toEqual([[], 1, 2]);
  });
});

describe('an alarm of an earlier version, without a note,', () => {
  it('is raised again with one, and gives up its heads once that one is closed', async () => {
    const { id } = await found();
    const cluster = await AuditedCluster.start();
    await cluster.write(8);
    await cluster.turn();
    await rewrite(cluster);
    await cluster.forge([raisedBy(id)]);
    await cluster.restart();
    await cluster.turn();
    expect((await cluster.raised()).map(({ alarm_id, note }) => [alarm_id, note !== null])).toEqual([
      [id, false],
      [id, true],
    ]);
    await cluster.close('ada');
    await cluster.turn();
    await cluster.turn();
    expect([cluster.alarms(), generation(cluster), cluster.sizes()]).toEqual([[], 1, [8]]);
  });

  it('that was closed began a generation: heads signed since say so, also where their log is lost', async () => {
    const { cluster } = await found();
    await cluster.close('ada');
    await cluster.turn();
    await cluster.turn();
    cluster.broker.truncate('recourse.signed-heads', 0, 0);
    await cluster.restart({ withKept: true });
    await cluster.turn();
    expect([cluster.alarms(), generation(cluster), cluster.sizes()]).toEqual([[`heads_lost in ${LOG}/0`], 1, [8]]);
  });
});

describe('a witness', () => {
  const signer = noteSigner('witness.spec', 'witness', freshPem());
  const willing: Witness = {
    key: signer.key,
    cosign: ({ note }) => Promise.resolve(signer.sign(parseNote(note)?.text ?? '', 1_800_000_000)),
  };

  it('signs beside the auditor', async () => {
    const cluster = await AuditedCluster.start([willing]);
    await cluster.write(2);
    await cluster.turn();
    const note = parseNote(cluster.kept[0]?.note ?? '');
    expect([cluster.signer.key, signer.key].map((key) => note !== null && isSignedBy(note, key))).toEqual([true, true]);
  });

  it('is shown which alarm gave up the heads before, and who closed it, also after a restart', async () => {
    const shown: (string | null)[] = [];
    const cosign: Witness['cosign'] = (head, grounds) => {
      shown.push(head.topic === LOG ? grounds.givenUp : null);
      return willing.cosign(head, grounds);
    };
    const cluster = await AuditedCluster.start([{ key: signer.key, cosign }]);
    await cluster.write(8);
    await cluster.turn();
    await rewrite(cluster);
    await cluster.turn();
    await cluster.close('ada');
    await cluster.turn();
    await cluster.turn();
    const [raised, closing] = [...notesIn([shown[1] ?? ''])];
    expect(readSignedAlarm(raised ?? '', [cluster.signer.key])).toMatchObject({ finding: 'rewritten', generation: 0 });
    expect(readSignedClosing(closing ?? '', [cluster.signer.key])).toMatchObject({ by: 'ada' });
    await cluster.restart({ witnesses: [{ key: signer.key, cosign }] });
    await cluster.write(1, { mark: 1 });
    await cluster.turn();
    expect([shown.length, shown[0], shown[2] === shown[1]]).toEqual([3, null, true]);
  });

  it('that is silent holds nothing up, and one that refuses raises an alarm', async () => {
    const refusing = (code: 'WITNESS_REFUSED' | 'WITNESS_UNAVAILABLE'): Witness => ({
      key: signer.key,
      cosign: () => Promise.reject(new Failure(code, 'not this one')),
    });
    const silent = await AuditedCluster.start([refusing('WITNESS_UNAVAILABLE')]);
    await silent.write(2);
    await silent.turn();
    expect([silent.sizes(), silent.alarms()]).toEqual([[2], []]);
    const refused = await AuditedCluster.start([refusing('WITNESS_REFUSED')]);
    await refused.write(2);
    await refused.turn();
    expect(refused.alarms()).toEqual([`witness_differs in ${LOG}/0`]);
    await refused.write(2);
    await refused.turn();
    expect([refused.sizes(), refused.alarms()]).toEqual([[2, 4], [`witness_differs in ${LOG}/0`]]);
    await refused.close('ada');
    await refused.turn();
    expect(refused.alarms()).toEqual([]);
  });

  it('that hangs is asked once a turn, told of as long as it does, and makes nobody unready', async () => {
    const answers: (() => void)[] = [];
    let asked = 0;
    const hung: Witness = {
      key: noteSigner('hung', 'witness', freshPem()).key,
      cosign: (head, grounds) => {
        asked += 1;
        return asked > 8
          ? willing.cosign(head, grounds)
          : new Promise((_resolve, reject) => {
              answers.push(() => {
                reject(new DOMException('it took too long', 'TimeoutError'));
              });
            });
      },
    };
    const cluster = await AuditedCluster.start([hung, willing], 12);
    for (let partition = 0; partition < 12; partition += 1) await cluster.write(2, { partition });
    const turn = cluster.turn();
    await turnsOf(100);
    expect(answers).toHaveLength(8);
    for (const answer of answers) answer();
    await turn;
    expect([asked, cluster.sizes(LOG, 11)]).toEqual([8, [2]]);
    expect(cluster.kept.map(({ partition }) => partition)).toEqual(Array.from({ length: 12 }, (_, n) => n));
    expect(parseNote(cluster.kept[11]?.note ?? '')?.signatures.map(({ name }) => name)).toEqual([
      'auditor.spec',
      'witness.spec',
    ]);
    expect(cluster.auditor.health()).toMatchObject({ ready: true, trouble: { hung: 'WITNESS_UNAVAILABLE' } });
    await cluster.write(2);
    await cluster.turn();
    expect([asked, cluster.auditor.health().trouble]).toEqual([9, {}]);
  });

  it('that was silent at the last head is asked for it again every ten seconds, and the log need not grow for it (P11)', async () => {
    let [asked, isAway] = [0, true];
    const cosign: Witness['cosign'] = (head, grounds) => {
      asked += 1;
      return isAway ? Promise.reject(new Failure('WITNESS_UNAVAILABLE', 'it is away')) : willing.cosign(head, grounds);
    };
    const witnesses = [{ key: signer.key, cosign }];
    const cluster = await AuditedCluster.start(witnesses);
    const turns = async (count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) await cluster.turn();
    };
    await cluster.write(2);
    await turns(10);
    expect(asked).toBe(1);
    await turns(1);
    expect([asked, cluster.kept.length, Object.keys(cluster.auditor.health().trouble)]).toEqual([
      2,
      1,
      ['witness.spec'],
    ]);
    expect(cluster.auditor.health().witnesses['witness.spec']).toBeGreaterThanOrEqual(10);
    isAway = false;
    await turns(30);
    expect(cluster.auditor.health().witnesses).toEqual({ 'witness.spec': 0 });
    expect([asked, cluster.sizes(), cluster.auditor.health().trouble]).toEqual([3, [2], {}]);
    const last = cluster.book.signed(PLACE).heads.at(-1)?.note ?? '';
    expect([cluster.kept.map(({ size }) => size), cluster.kept.at(-1)?.note === last]).toEqual([[2, 2], true]);
    expect(parseNote(last)?.signatures).toHaveLength(2);
    await cluster.restart({ witnesses, withKept: true });
    await turns(20);
    expect([asked, cluster.alarms(), cluster.kept.length]).toEqual([3, [], 2]);
  });

  it('is not asked again for a head that the log contradicts', async () => {
    let asked = 0;
    const cosign: Witness['cosign'] = () => {
      asked += 1;
      return Promise.reject(new Failure('WITNESS_UNAVAILABLE', 'it is away'));
    };
    const cluster = await AuditedCluster.start([{ key: signer.key, cosign }]);
    await cluster.write(8);
    await cluster.turn();
    await rewrite(cluster);
    for (let n = 0; n < 20; n += 1) await cluster.turn();
    expect([asked, cluster.alarms()]).toEqual([1, [`rewritten in ${LOG}/0`]]);
  });

  it('that signs again and then refuses once more raises an alarm anew', async () => {
    const answers = [false, true, false];
    const cosign: Witness['cosign'] = (head, grounds) =>
      answers.shift() === true
        ? willing.cosign(head, grounds)
        : Promise.reject(new Failure('WITNESS_REFUSED', 'not this one'));
    const cluster = await AuditedCluster.start([{ key: signer.key, cosign }]);
    for (const alarms of [1, 0, 1]) {
      await cluster.write(2);
      await cluster.turn();
      expect(cluster.alarms()).toHaveLength(alarms);
      await cluster.close('ada');
    }
  });
});
