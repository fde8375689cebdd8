// A person closes an alarm in a log that its auditor goes on writing.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { OwnLog } from '@recourse/event-log';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import type { GateVerdict } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { desk, table } from '../desk.testing.js';
import { EXIT_CODES } from '../problem.js';
import { alarmsIn, chosenIn, closeAlarms, HEADS_LOG } from './close-alarm.js';
import type { ClosedAlarm, Wanted } from './close-alarm.js';

const ALARM = {
  alarm_id: 'alm_1',
  tenant: '*',
  run_id: 'alm_1',
  finding: 'cut_tail',
  topic: 'recourse.mutations',
  partition: 0,
  first_seq: 7,
  offset: 9,
  detail: 'the log ends before a head that was signed',
  owner: 'role:auditor',
  deadline_at: 2_000,
};
const WORD = { by: 'ada', reason: 'a drill', now: 5_000 };
let registry: MemoryRegistry;
let broker: MemoryBroker;
/** What becomes of the next records the person sends; then all of them land. */
let sent: (() => Promise<GateVerdict>)[];

beforeEach(async () => {
  sent = [];
  registry = new MemoryRegistry();
  broker = new MemoryBroker({
    gate: {
      enter: async ({ kind, actor }) =>
        (kind === 'append' && actor === 'person' ? await sent.shift()?.() : undefined) ?? 'proceed',
    },
  });
  broker.ensureTopics([{ name: HEADS_LOG, partitions: 1 }]);
  await asAuditor('AlarmRaised', ALARM);
});

async function logOf(actor: string): Promise<OwnLog> {
  const codecs = createCodecs(registry.forActor(actor));
  await codecs.prepareWriter(HEADS_LOG, { register: true });
  const place = { topic: HEADS_LOG, partition: 0, partitionCount: 1, logId: 'log-1' };
  return new OwnLog({ kafka: broker.forActor(actor), codecs, ...place });
}

/** A person names alarms, or says which are meant, and closes them. */
async function close(log: OwnLog, wanted: Wanted): Promise<readonly ClosedAlarm[]> {
  const alarms = await alarmsIn(log);
  return closeAlarms(log, alarms, chosenIn(alarms, wanted), WORD);
}

async function closeOne(log: OwnLog, id: string): Promise<ClosedAlarm | undefined> {
  return (await close(log, { ids: [id] })).at(0);
}

async function recordsIn(log: OwnLog): Promise<readonly string[]> {
  await log.prepare();
  const types: string[] = [];
  for await (const records of log.read(log.origin())) types.push(...records.map(({ type }) => type));
  return types;
}

async function asAuditor(type: string, body: Readonly<Record<string, unknown>>): Promise<void> {
  const log = await logOf('auditor');
  await recordsIn(log);
  const batch = log.seal(1_000);
  batch.add({ type, body }, 'heads');
  expect(await log.append(batch)).toBe('accepted');
  await log.close();
}

async function bodies(): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const log = await logOf('reader');
  await log.prepare();
  const found: Readonly<Record<string, unknown>>[] = [];
  for await (const records of log.read(log.origin())) found.push(...records.map(({ body }) => body));
  return found;
}

const signs = async (): Promise<GateVerdict> => {
  await asAuditor('HeadsSigned', { heads: [] });
  return 'proceed';
};
const landed = async (): Promise<readonly string[]> => recordsIn(await logOf('reader'));

describe('an alarm', () => {
  it('is closed once, also while the auditor signs heads', async () => {
    sent = [signs, signs];
    expect(await closeOne(await logOf('person'), 'alm_1')).toMatchObject({
      seq: 4,
      alarm: { finding: 'cut_tail' },
    });
    expect(await landed()).toEqual(['AlarmRaised', 'HeadsSigned', 'HeadsSigned', 'AlarmClosed']);
  });

  it('is closed once where nobody said that the record had landed', async () => {
    sent = [() => Promise.resolve('lose_ack')];
    expect(await closeOne(await logOf('person'), 'alm_1')).toMatchObject({ seq: 2 });
    expect(await landed()).toEqual(['AlarmRaised', 'AlarmClosed']);
  });

  it('is left open, with a code, where the auditor comes first each time', async () => {
    sent = Array.from({ length: 20 }, () => signs);
    await expect(closeOne(await logOf('person'), 'alm_1')).rejects.toMatchObject({ code: 'HEAD_MOVED' });
  });

  it('that is not open is refused', async () => {
    await closeOne(await logOf('person'), 'alm_1');
    for (const id of ['alm_1', 'alm_2'])
      await expect(closeOne(await logOf('person'), id)).rejects.toMatchObject({ code: 'ALARM_UNKNOWN' });
  });
});

describe('an alarm of which somebody else wrote that it is closed', () => {
  it('is open where that is in the name of the auditor, without its note, or in none (P11)', async () => {
    for (const by of ['service:auditor', ''])
      await asAuditor('AlarmClosed', { alarm_id: 'alm_1', by, reason: 'made up' });
    expect(await closeOne(await logOf('person'), 'alm_1')).toMatchObject({ seq: 4 });
    await asAuditor('AlarmRaised', ALARM);
    await asAuditor('AlarmClosed', { alarm_id: 'alm_1', by: 'service:auditor', reason: 'over', note: 'signed' });
    expect([...(await alarmsIn(await logOf('reader'))).open.keys()]).toEqual([]);
  });

  it.each(['service:auditor', ' ', 'ada\nbob'])('is closed by no person named %j', async (by) => {
    const { call, note } = desk(table({}));
    expect(await call('log', 'close-alarm', 'alm_1', '--reason', 'a drill', '--by', by)).toBe(EXIT_CODES.usage.code);
    expect(note()).toContain('names no person who could close an alarm');
  });
});

describe('several alarms', () => {
  const raise = async (n: number, change: object): Promise<void> =>
    asAuditor('AlarmRaised', { ...ALARM, alarm_id: `alm_${n}`, ...change });
  const idsOf = (closed: readonly ClosedAlarm[]): readonly string[] => closed.map(({ alarm }) => alarm.id);

  beforeEach(async () => {
    await raise(2, { partition: 1 });
    await raise(3, { finding: 'heads_lost' });
    await raise(4, { finding: 'regrown', topic: 'recourse.mutations-2' });
  });

  it('are closed by one word, each by a record of its own with the reason', async () => {
    const closed = await close(await logOf('person'), { ids: ['alm_1', 'alm_3'] });
    expect(closed.map(({ seq, alarm }) => [seq, alarm.id])).toEqual([
      [5, 'alm_1'],
      [6, 'alm_3'],
    ]);
    expect((await bodies()).slice(4)).toEqual([
      { alarm_id: 'alm_1', by: 'ada', reason: 'a drill', note: null },
      { alarm_id: 'alm_3', by: 'ada', reason: 'a drill', note: null },
    ]);
  });

  it.each<[string, Omit<Wanted, 'ids'>, readonly string[]]>([
    ['a finding, as items write it, too', { findings: ['CUT_TAIL'] }, ['alm_1', 'alm_2']],
    ['several findings', { findings: ['cut_tail', 'regrown'] }, ['alm_1', 'alm_2', 'alm_4']],
    ['a log, and none whose name begins so', { logs: ['recourse.mutations'] }, ['alm_1', 'alm_2', 'alm_3']],
    ['a partition', { logs: ['recourse.mutations/0'] }, ['alm_1', 'alm_3']],
    ['a finding in a log', { findings: ['cut_tail'], logs: ['recourse.mutations/1'] }, ['alm_2']],
  ])('are meant by %s', async (_, wanted, ids) => {
    expect(idsOf(await close(await logOf('person'), { ids: [], ...wanted }))).toEqual(ids);
    expect([...(await alarmsIn(await logOf('reader'))).open.keys()]).toEqual(
      ['alm_1', 'alm_2', 'alm_3', 'alm_4'].filter((id) => !ids.includes(id)),
    );
  });

  it('are left as they are where one of them is not open, or none fits', async () => {
    for (const wanted of [{ ids: ['alm_1', 'alm_9'] }, { ids: [], findings: ['forked'] }])
      await expect(close(await logOf('person'), wanted)).rejects.toMatchObject({ code: 'ALARM_UNKNOWN' });
    expect(await landed()).not.toContain('AlarmClosed');
  });

  it('leave what somebody else closed meanwhile as they said it, and what came meanwhile open', async () => {
    const closes = async (): Promise<GateVerdict> => {
      await asAuditor('AlarmClosed', { alarm_id: 'alm_1', by: 'bob', reason: 'mine' });
      await raise(5, { partition: 3 });
      return 'proceed';
    };
    sent = [closes];
    const closed = await close(await logOf('person'), { ids: [], findings: ['cut_tail'] });
    expect(closed.map(({ seq, alarm }) => [seq, alarm.id])).toEqual([
      [5, 'alm_1'],
      [7, 'alm_2'],
    ]);
    expect([...(await alarmsIn(await logOf('reader'))).open.keys()]).toEqual(['alm_3', 'alm_4', 'alm_5']);
  });

  it.each([
    ['neither named nor described', []],
    ['named and described', ['alm_1', '--finding', 'cut_tail']],
  ])('that are %s are not asked for', async (_, which) => {
    const { call, note } = desk(table({}));
    expect(await call('log', 'close-alarm', ...which, '--reason', 'a drill', '--by', 'ada')).toBe(
      EXIT_CODES.usage.code,
    );
    expect(note()).toContain('CALL_INVALID');
  });
});
