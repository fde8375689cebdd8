// A log whose last decision lies ahead of the true time, on a real broker: its service waits, a person accepts the lead, and the service
// goes on at the time that stands (L1, P14).
//
// The head is written as a service would have written it whose database and own clock were five minutes ahead together.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run } from '@recourse/cli';
import { OwnLog } from '@recourse/event-log';
import type { OwnLogOptions } from '@recourse/event-log';
import { createKafka, createSchemaRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { OPERATOR, System } from '../e2e/system.testing.js';
import type { Facts, OpenItem } from '../e2e/system.testing.js';

const [LOG, OWNER] = ['recourse.recoveries', 'recovery-orchestrator'];
const LEAD_MS = 300_000;
const EXIT = { done: 0, usage: 64, refused: 3, declined: 6 } as const;

let started: System | undefined;
let system: System;
let item: OpenItem;
/** Every partition of the log. */
let logs: readonly OwnLogOptions[];
/** The one of the item. */
let partition = 0;

beforeAll(async () => {
  started = await System.start();
  system = started;
  item = await system.openItem();
  await stopped();
  logs = await logsOf();
  for (const options of logs) await lookFor(options);
  await decideAhead();
}, 400_000);
afterAll(() => started?.close(), 60_000);

async function stopped(): Promise<void> {
  await system.processes.kill(OWNER, 'SIGTERM');
  await system.until('the end', () => Promise.resolve(system.processes.pid(OWNER) === null ? true : null));
}

async function logsOf(): Promise<readonly OwnLogOptions[]> {
  const env = system.plan.processes.find(({ name }) => name === OWNER)?.env ?? {};
  const kafka = createKafka({ brokers: (env['RECOURSE_KAFKA_BROKERS'] ?? '').split(','), clientId: 'time-spec' });
  const codecs = createCodecs(createSchemaRegistry({ url: env['RECOURSE_REGISTRY_URL'] ?? '' }));
  await codecs.prepareWriter(LOG);
  const admin = await kafka.admin();
  const partitionCount = (await admin.partitionCount(LOG)) ?? 0;
  await admin.close();
  const common = { kafka, codecs, topic: LOG, partitionCount, logId: env['RECOURSE_LOG_ID'] ?? '' };
  return Array.from({ length: partitionCount }, (_, index) => ({ ...common, partition: index }));
}

async function lookFor(options: OwnLogOptions): Promise<void> {
  const log = new OwnLog(options);
  await log.prepare();
  for await (const records of log.read(log.origin()))
    if (records.some(({ body }) => body['step_id'] === item.stepId)) partition = options.partition;
  await log.close();
}

async function decideAhead(): Promise<void> {
  const options = logs.find((one) => one.partition === partition);
  if (options === undefined) throw new Error('the item is in no partition');
  const log = new OwnLog(options);
  await log.prepare();
  let reacted: unknown = 0;
  for await (const records of log.read(log.origin()))
    reacted = records.findLast(({ type }) => type === 'Progress')?.body['reacted_seq'] ?? reacted;
  const batch = log.seal(Date.now() + LEAD_MS);
  batch.add({ type: 'Progress', body: { cursors: [], reacted_seq: reacted } }, 'progress');
  expect(await log.append(batch)).toBe('accepted');
  await log.close();
}

async function recourse(
  args: readonly string[],
  answer: string | null = null,
): Promise<{ readonly code: number; readonly out: string; readonly note: string }> {
  const [out, note]: [string[], string[]] = [[], []];
  const terminal = {
    out: (text: string) => void out.push(text),
    note: (text: string) => void note.push(text),
    isInteractive: answer !== null,
    ask: () => Promise.resolve(answer ?? ''),
  };
  const environment = { RECOURSE_DATA_DIR: system.dataDir };
  const code = await run(args, { terminal, environment, folder: system.dataDir, fetch });
  return { code, out: out.join('\n'), note: note.join('\n') };
}

const acceptTime = (at: number, ...more: readonly string[]): readonly string[] => [
  ...['log', 'accept-time', '--log', LOG, '--partition', String(at)],
  ...['--by', 'mira', '--reason', 'both clocks were five minutes ahead', ...more],
];

async function loop(): Promise<Facts | undefined> {
  const { body } = await system.get('orchestrator', '/v1/status', { person: OPERATOR });
  const loops = ((body['detail'] as Facts | undefined)?.['loops'] ?? []) as readonly Facts[];
  return loops.find((one) => one['log'] === LOG && one['partition'] === partition);
}

describe('a log whose last decision lies ahead', () => {
  it('keeps its service waiting, which names the command', async () => {
    const starting = system.processes.start(OWNER).catch(() => 'ended');
    const problem = await system.until('it waits', async () => {
      const said = (await loop().catch(() => undefined))?.['problem'];
      return typeof said === 'string' && said.startsWith('CLOCK_BEHIND') ? said : null;
    });
    expect(problem).toContain('recourse log accept-time');
    expect((await system.get('orchestrator', '/health/ready')).status).toBe(503);
    await stopped();
    expect(await starting).toBe('ended');
  }, 90_000);
});

describe('recourse log accept-time', () => {
  it('shows the lead, and does nothing when nobody is there to confirm, or the person says no', async () => {
    const { code, note } = await recourse(acceptTime(partition));
    expect([code, note]).toEqual([EXIT.usage, expect.stringMatching(/lead +[12]\d{5} ms/)]);
    expect(note).toContain('CONFIRMATION_NEEDED');
    expect((await recourse(acceptTime(partition), 'n')).code).toBe(EXIT.declined);
  }, 30_000);

  it('finds nothing to accept in a log that is not ahead', async () => {
    const { code, note } = await recourse(acceptTime(1 - partition, '--yes'));
    expect([code, note]).toEqual([EXIT.refused, expect.stringContaining('NOTHING_AHEAD')]);
  }, 30_000);

  it('records who accepted what and why, once, when the person agrees', async () => {
    const { code, out } = await recourse(acceptTime(partition, '--json'), 'yes');
    const told = JSON.parse(out) as { readonly stands_at: number; readonly true_now: number; readonly lead_ms: number };
    expect([code, told.stands_at - told.true_now]).toEqual([EXIT.done, told.lead_ms]);
    expect(told.lead_ms).toBeGreaterThan(LEAD_MS / 2);
    const again = await recourse(acceptTime(partition, '--yes'));
    expect([again.code, again.note]).toEqual([EXIT.refused, expect.stringContaining('NOTHING_AHEAD')]);
  }, 30_000);

  it('leaves a chain that an audit finds sound', async () => {
    const { code, out } = await recourse(['audit', 'verify', '--log', LOG, '--json']);
    expect([code, (JSON.parse(out) as Facts)['ok']]).toEqual([EXIT.done, true]);
  }, 30_000);
});

describe('the service after that', () => {
  it('goes on at the time that stands: what a person approves is undone, once', async () => {
    await system.processes.start(OWNER);
    await system.until('it is ready', async () => ((await loop())?.['state'] === 'ready' ? true : null));
    await system.approve(item);
    expect(await system.restOf(item)).toBe('compensated');
    expect(await system.reversalsOf(item)).toBe(1);
  }, 120_000);

  it('has the state its log makes', async () => {
    const { code, out } = await recourse(['replay', LOG, '--compare', '--json']);
    expect([code, (JSON.parse(out) as Facts)['ok']]).toEqual([EXIT.done, true]);
  }, 30_000);
});
