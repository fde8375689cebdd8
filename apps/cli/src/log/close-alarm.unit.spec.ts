// A person closes an alarm in a log that its auditor goes on writing.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { OwnLog } from '@recourse/event-log';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import type { GateVerdict } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { closeAlarm, HEADS_LOG } from './close-alarm.js';

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

const signs = async (): Promise<GateVerdict> => {
  await asAuditor('HeadsSigned', { heads: [] });
  return 'proceed';
};
const landed = async (): Promise<readonly string[]> => recordsIn(await logOf('reader'));

describe('an alarm', () => {
  it('is closed once, also while the auditor signs heads', async () => {
    sent = [signs, signs];
    expect(await closeAlarm(await logOf('person'), 'alm_1', WORD)).toMatchObject({
      seq: 4,
      alarm: { finding: 'cut_tail' },
    });
    expect(await landed()).toEqual(['AlarmRaised', 'HeadsSigned', 'HeadsSigned', 'AlarmClosed']);
  });

  it('is closed once where nobody said that the record had landed', async () => {
    sent = [() => Promise.resolve('lose_ack')];
    expect(await closeAlarm(await logOf('person'), 'alm_1', WORD)).toMatchObject({ seq: 2 });
    expect(await landed()).toEqual(['AlarmRaised', 'AlarmClosed']);
  });

  it('is left open, with a code, where the auditor comes first each time', async () => {
    sent = Array.from({ length: 20 }, () => signs);
    await expect(closeAlarm(await logOf('person'), 'alm_1', WORD)).rejects.toMatchObject({ code: 'HEAD_MOVED' });
  });

  it('that is not open is refused', async () => {
    await closeAlarm(await logOf('person'), 'alm_1', WORD);
    for (const id of ['alm_1', 'alm_2'])
      await expect(closeAlarm(await logOf('person'), id, WORD)).rejects.toMatchObject({ code: 'ALARM_UNKNOWN' });
  });
});
