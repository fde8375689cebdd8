import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { headText, noteSigner, noteText } from '@recourse/audit';
import { OwnLog } from '@recourse/event-log';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { NewestHeads } from './newest-heads.js';

const LOG = 'recourse.signed-heads';
const ALARM = {
  alarm_id: 'alm_1',
  tenant: '*',
  run_id: '',
  finding: 'cut_tail',
  topic: 'recourse.budgets',
  partition: 0,
  first_seq: 1,
  offset: null,
  detail: 'cut',
  owner: 'log-owners',
  deadline_at: 9,
};

const PEM = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
const SIGNER = noteSigner('auditor.spec', 'log', PEM);

/** The log of heads, and whoever asks when they were signed. */
async function heads() {
  const broker = new MemoryBroker();
  broker.ensureTopics([{ name: LOG, partitions: 1 }]);
  const codecs = createCodecs(new MemoryRegistry().forActor('spec'));
  await codecs.prepareWriter(LOG, { register: true });
  const open = (): OwnLog =>
    new OwnLog({ kafka: broker.forActor('spec'), codecs, topic: LOG, partition: 0, partitionCount: 1, logId: 'log-1' });
  const owner = open();
  const append = async (type: string, body: object, decidedAt: number): Promise<void> => {
    const batch = owner.seal(decidedAt);
    batch.add({ type, body: { ...body } }, 'heads');
    expect(await owner.append(batch)).toBe('accepted');
  };
  return {
    sign: (at: number, partitions: readonly number[] = [0], note = 'signed') =>
      append(
        'HeadsSigned',
        { heads: partitions.map((partition) => ({ topic: 'recourse.budgets', partition, size: 1, note })) },
        at,
      ),
    raise: (at: number) => append('AlarmRaised', ALARM, at),
    asker: (now = 1_000) => new NewestHeads(open(), () => now),
  };
}

describe('when heads were signed last', () => {
  it('is not known before the first', async () => {
    const { asker, raise } = await heads();
    const asked = asker();
    expect(await asked.signedAt()).toBeNull();
    await raise(5);
    expect(await asked.signedAt()).toBeNull();
  });

  it('is told of the newest, also of those signed since, and an alarm is none', async () => {
    const { asker, sign, raise } = await heads();
    const asked = asker();
    await sign(10);
    await sign(20);
    await raise(30);
    expect(await asked.signedAt()).toBe(20);
    await sign(40);
    expect(await Promise.all([asked.signedAt(), asked.signedAt()])).toEqual([40, 40]);
  });

  it('is found near the end of a long log by who never read it', async () => {
    const { asker, sign, raise } = await heads();
    for (let at = 1; at <= 150; at += 1) await sign(at);
    await raise(500);
    expect(await asker().signedAt()).toBe(150);
  });

  it('is told of each log by itself: that the others are signed hides none that is not', async () => {
    const { asker, sign } = await heads();
    const asked = asker();
    expect(await asked.places()).toEqual([]);
    await sign(10, [0, 1]);
    await sign(20, [1, 2]);
    const log = 'recourse.budgets';
    expect(await asked.places()).toEqual([
      { log, partition: 0, at: 10 },
      { log, partition: 1, at: 20 },
      { log, partition: 2, at: 20 },
    ]);
  });

  it('is as a head says where it is published again, with the signature of a witness that was silent first', async () => {
    const { asker, sign } = await heads();
    const of = {
      logId: 'log-1',
      topic: 'recourse.budgets',
      partition: 0,
      generation: 0,
      size: 1,
      root: Buffer.alloc(32),
    };
    const text = headText({ ...of, head: Buffer.alloc(32), nextOffset: 1, firstOffset: 0, signedAt: 10 });
    await sign(70, [0], noteText({ text, signatures: [SIGNER.sign(text, 0)] }));
    expect(await asker().places()).toEqual([{ log: 'recourse.budgets', partition: 0, at: 10 }]);
  });

  it('is as a head was seen where it is of the future, so that it grows old as any other', async () => {
    const { asker, sign } = await heads();
    await sign(86_400_000);
    expect(await asker(500).places()).toEqual([{ log: 'recourse.budgets', partition: 0, at: 500 }]);
  });
});
