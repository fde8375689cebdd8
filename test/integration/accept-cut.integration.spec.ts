// A log that lost acknowledged records, on a real broker: the owner halts, a person accepts the loss, the owner goes on, and
// what had been sent is not sent again (L5, L8, L10).
//
// The recoveries' log is put back to an older copy that ends behind the request to the worker: the outcome of the leg and
// everything after it are gone. The ledger, which reads this log, is behind the cut, as a reader is that was down meanwhile.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run } from '@recourse/cli';
import { createKafka, createSchemaRegistry, cutTopic } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { createCodecs, schemaIdOf } from '@recourse/messages';
import { OPERATOR, System } from '../e2e/system.testing.js';
import type { Facts, OpenItem } from '../e2e/system.testing.js';

const LOG = 'recourse.recoveries';
const REQUESTS = 'recourse.tool-requests.payments';
const OWNER = 'recovery-orchestrator';
const READER = 'mutation-ledger';
const EXIT = { done: 0, usage: 64, refused: 3, declined: 6 } as const;

interface Stored {
  readonly partition: number;
  readonly offset: number;
  readonly type: string;
  readonly body: Facts;
}
interface Ended {
  readonly code: number;
  readonly out: string;
  readonly note: string;
  readonly asked: readonly string[];
}

let started: System | undefined;
let system: System;
let brokers: readonly string[];
let kafka: Kafka;
let item: OpenItem;
/** Where the log was cut, and how many of its records were lost. */
let cut: { readonly partition: number; readonly keep: number; readonly lost: number };
let requestsBefore: number;

beforeAll(async () => {
  started = await System.start();
  system = started;
  const env = system.plan.processes.find(({ name }) => name === OWNER)?.env ?? {};
  brokers = (env['RECOURSE_KAFKA_BROKERS'] ?? '').split(',');
  kafka = createKafka({ brokers, clientId: 'cut-spec' });
  item = await system.openItem();
  await stopped(READER);
  await system.approve(item);
  await system.until('the outcome', async () => ((await phase()) === 'compensated' ? true : null));
  requestsBefore = (await recordsOf(REQUESTS)).length;
  await restoreOlderCopy();
}, 400_000);
afterAll(() => started?.close(), 60_000);

async function stopped(name: string): Promise<void> {
  await system.processes.kill(name, 'SIGTERM');
  await system.until(`the end of ${name}`, () => Promise.resolve(system.processes.pid(name) === null ? true : null));
}

async function phase(): Promise<unknown> {
  return (await system.get('orchestrator', `/v1/steps/${item.stepId}`, { person: OPERATOR })).body['phase'];
}

/** Keeps the log up to the batch that dispatched the leg. */
async function restoreOlderCopy(): Promise<void> {
  const records = await recordsOf(LOG);
  const dispatched = records.find(({ type }) => type === 'LegDispatched');
  if (dispatched === undefined) throw new Error('no leg was dispatched');
  const same = records.filter(({ partition }) => partition === dispatched.partition);
  const next = same.find(({ offset, type }) => offset > dispatched.offset && type === 'Progress');
  const lost = same.filter(({ offset }) => offset >= (next?.offset ?? Infinity));
  expect(lost.map(({ type }) => type)).toContain('LegSettled');
  cut = { partition: dispatched.partition, keep: next?.offset ?? 0, lost: lost.length };
  await cutTopic({ brokers, topic: LOG, partition: cut.partition, keep: cut.keep });
}

/** Every record of a topic, decoded, whatever a chain says of it. */
async function recordsOf(topic: string): Promise<readonly Stored[]> {
  const { RECOURSE_REGISTRY_URL: url = '' } = system.plan.processes.find(({ name }) => name === OWNER)?.env ?? {};
  const codecs = createCodecs(createSchemaRegistry({ url }));
  const [admin, reader] = [await kafka.admin(), await kafka.rawReader()];
  const found: Stored[] = [];
  for (let partition = 0; partition < ((await admin.partitionCount(topic)) ?? 0); partition += 1) {
    const { high } = await reader.range(topic, partition);
    for (let at = 0; at < high;) {
      const { records } = await reader.read(topic, partition, at);
      for (const { offset, value } of records) {
        await codecs.load(schemaIdOf(value) ?? -1);
        const decoded = codecs.decodeSync(value);
        if (decoded.kind === 'decoded')
          found.push({ partition, offset, type: decoded.type, body: decoded.body as Facts });
      }
      at += records.length;
    }
  }
  await Promise.all([admin.close(), reader.close()]);
  return found;
}

/** Calls the command line with a person at the terminal who gives one answer, or with nobody. */
async function recourse(args: readonly string[], answer: string | null = null): Promise<Ended> {
  const [out, note, asked]: [string[], string[], string[]] = [[], [], []];
  const terminal = {
    out: (text: string) => {
      out.push(text);
    },
    note: (text: string) => {
      note.push(text);
    },
    isInteractive: answer !== null,
    ask: (question: string) => {
      asked.push(question);
      return Promise.resolve(answer ?? '');
    },
  };
  const code = await run(args, {
    terminal,
    environment: { RECOURSE_DATA_DIR: system.dataDir },
    folder: system.dataDir,
    fetch,
  });
  return { code, out: out.join('\n'), note: note.join('\n'), asked };
}

const acceptCut = (...more: readonly string[]): readonly string[] => [
  'log',
  'accept-cut',
  '--log',
  LOG,
  '--partition',
  String(cut.partition),
  '--by',
  'mira',
  '--reason',
  'restored from a backup',
  ...more,
];

/** Code of what halted the loop of the cut partition; null while it runs. */
async function haltedBy(): Promise<string | null> {
  const { body } = await system.get('orchestrator', '/v1/status', { person: OPERATOR });
  const loops = ((body['detail'] as Facts | undefined)?.['loops'] ?? []) as readonly Facts[];
  const loop = loops.find(({ log, partition }) => log === LOG && partition === cut.partition);
  return loop?.['state'] === 'halted' ? (String(loop['problem']).split(':')[0] ?? '') : null;
}

const health = async (aspect: string): Promise<number> =>
  (await system.get('orchestrator', `/health/${aspect}`)).status;
const cutRecords = async (): Promise<readonly Stored[]> =>
  (await recordsOf(LOG)).filter(({ type }) => type === 'CutAccepted');

describe('a service whose log was cut', () => {
  it('halts with LOG_CUT at its next append, and takes nothing for written', async () => {
    const { status } = await system.approve(item, {
      person: { subject: 'tomas', roles: ['approver'] },
      key: 'after the cut',
    });
    expect(status).not.toBe(200);
    expect(await system.until('the halt', haltedBy)).toBe('LOG_CUT');
    // Another process would halt at the same place.
    expect([await health('live'), await health('ready')]).toEqual([200, 503]);
  }, 60_000);

  it('refuses to start', async () => {
    await stopped(OWNER);
    const starting = system.processes.start(OWNER).catch(() => 'ended');
    expect(await system.until('the halt', () => haltedBy().catch(() => null))).toBe('LOG_CUT');
    expect(await health('ready')).toBe(503);
    await stopped(OWNER);
    expect(await starting).toBe('ended');
  }, 90_000);
});

describe('recourse log accept-cut', () => {
  it('shows what is lost, and does nothing when nobody is there to confirm', async () => {
    const { code, note } = await recourse(acceptCut());
    expect([code, note]).toEqual([EXIT.usage, expect.stringContaining('CONFIRMATION_NEEDED')]);
    expect(note).toMatch(
      new RegExp(
        `lost +records ${String(cut.keep + 1)} to ${String(cut.keep + cut.lost)}: ${String(cut.lost)} that were acknowledged`,
      ),
    );
    expect(await cutRecords()).toEqual([]);
  }, 120_000);

  it('does nothing when the person says no', async () => {
    expect((await recourse(acceptCut(), 'n')).code).toBe(EXIT.declined);
    expect(await cutRecords()).toEqual([]);
  }, 120_000);

  it('finds nothing to accept in a log that lost nothing', async () => {
    const { code, note } = await recourse([
      'log',
      'accept-cut',
      '--log',
      LOG,
      '--partition',
      String(1 - cut.partition),
      '--by',
      'mira',
      '--reason',
      'none',
      '--yes',
    ]);
    expect([code, note]).toEqual([EXIT.refused, expect.stringContaining('NOTHING_LOST')]);
  }, 120_000);

  it('records who accepted what and why, once, when the person agrees', async () => {
    const { code, out, asked } = await recourse(acceptCut('--json'), 'yes');
    expect([code, JSON.parse(out), asked.length]).toEqual([
      EXIT.done,
      expect.objectContaining({ recorded_seq: cut.keep + 1, projection: 'dropped' }),
      1,
    ]);
    expect(
      (await cutRecords()).map(({ body }) => [
        body['seq'],
        body['lost_from_seq'],
        body['lost_to_seq'],
        body['by'],
        body['reason'],
      ]),
    ).toEqual([[cut.keep + 1, cut.keep + 1, cut.keep + cut.lost, 'mira', 'restored from a backup']]);
    const again = await recourse(acceptCut('--yes'));
    expect([again.code, again.note]).toEqual([EXIT.refused, expect.stringContaining('NOTHING_LOST')]);
  }, 120_000);

  it('leaves a chain that an audit finds sound', async () => {
    const { code, out } = await recourse(['audit', 'verify', '--log', LOG, '--json']);
    expect([code, (JSON.parse(out) as Facts)['ok']]).toEqual([EXIT.done, true]);
  }, 120_000);
});

describe('the service after that', () => {
  it('starts, decides again what was lost, and sends nothing a second time', async () => {
    await Promise.all([system.processes.start(OWNER), system.processes.start(READER)]);
    await system.until('the outcome', async () => ((await phase()) === 'compensated' ? true : null));
    expect(await system.restOf(item)).toBe('compensated');
    expect((await recordsOf(REQUESTS)).length).toBe(requestsBefore);
    expect(await system.reversalsOf(item)).toBe(1);
  }, 120_000);

  it('answers the command it could not write', async () => {
    const { status, body } = await system.approve(item, {
      person: { subject: 'tomas', roles: ['approver'] },
      key: 'after the cut',
    });
    expect([status, body['code']]).toEqual([409, 'APPROVAL_USED']);
  }, 120_000);

  it('has the state its log makes', async () => {
    const { code, out } = await recourse(['replay', LOG, '--compare', '--json']);
    expect([code, (JSON.parse(out) as Facts)['ok']]).toEqual([EXIT.done, true]);
  }, 120_000);
});
