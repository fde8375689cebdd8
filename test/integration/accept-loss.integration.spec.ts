// A wire that lost records before its service read them, on a real broker: the partition halts and says which command goes on; a
// person accepts the loss; the service goes on behind it (L13).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run } from '@recourse/cli';
import { createKafka, createSchemaRegistry, partitionForKey, trimTopic } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { OPERATOR, System } from '../e2e/system.testing.js';
import type { Facts } from '../e2e/system.testing.js';

const [LOG, WIRE, OWNER] = ['recourse.assumptions', 'recourse.assumption-events', 'mutation-ledger'];
const REF = 'order/4711#not_shipped';
const EXIT = { done: 0, usage: 64, refused: 3 } as const;

let started: System | undefined;
let system: System;
let brokers: readonly string[];
let codecs: Codecs;
let partition: number;

beforeAll(async () => {
  started = await System.start();
  system = started;
  const env = system.plan.processes.find(({ name }) => name === OWNER)?.env ?? {};
  brokers = (env['RECOURSE_KAFKA_BROKERS'] ?? '').split(',');
  codecs = createCodecs(createSchemaRegistry({ url: env['RECOURSE_REGISTRY_URL'] ?? '' }));
  await codecs.prepareWriter(WIRE);
  const admin = await createKafka({ brokers, clientId: 'loss-spec' }).admin();
  partition = partitionForKey(REF, (await admin.partitionCount(WIRE)) ?? 0);
  await admin.close();
}, 400_000);
afterAll(() => started?.close(), 60_000);

async function declare(id: string): Promise<void> {
  const statement = {
    content_type: 'application/json',
    encoding: 'plain',
    key_id: null,
    body: Buffer.from('{}'),
    sha256: Buffer.alloc(32),
  };
  const body = {
    event_id: id,
    tenant: 'demo',
    ref: REF,
    run_id: null,
    source: 'spec',
    source_kind: 'observation',
    statement,
    stated_at: 1,
  };
  const producer = await createKafka({ brokers, clientId: 'loss-spec' }).wireProducer();
  await producer.send(WIRE, [{ key: Buffer.from(REF), value: codecs.encode(WIRE, 'AssumptionDeclared', body) }]);
  await producer.close();
}

/** Deletes what lies below an offset, as retention does. */
const forget = (offset: number): Promise<void> => trimTopic(brokers, { topic: WIRE, partition, below: offset });

async function end(): Promise<number> {
  const reader = await createKafka({ brokers, clientId: 'loss-spec' }).rawReader();
  const { high } = await reader.range(WIRE, partition);
  await reader.close();
  return high;
}

async function loop(): Promise<Facts | undefined> {
  const { body } = await system.get('ledger', '/v1/status', { person: OPERATOR });
  const loops = ((body['detail'] as Facts | undefined)?.['loops'] ?? []) as readonly Facts[];
  return loops.find((one) => one['log'] === LOG && one['partition'] === partition);
}

async function stopped(): Promise<void> {
  await system.processes.kill(OWNER, 'SIGTERM');
  await system.until('the end', () => Promise.resolve(system.processes.pid(OWNER) === null ? true : null));
}

async function recourse(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly note: string }> {
  const [out, note]: [string[], string[]] = [[], []];
  const terminal = {
    out: (text: string) => void out.push(text),
    note: (text: string) => void note.push(text),
    isInteractive: false,
    ask: () => Promise.resolve(''),
  };
  const environment = { RECOURSE_DATA_DIR: system.dataDir };
  const code = await run(args, { terminal, environment, folder: system.dataDir, fetch });
  return { code, out: out.join('\n'), note: note.join('\n') };
}

const acceptLoss = (
  ...more: readonly string[]
): Promise<{ readonly code: number; readonly out: string; readonly note: string }> =>
  recourse(
    ...['log', 'accept-loss', '--log', LOG, '--partition', String(partition), '--wire', `${WIRE}/${String(partition)}`],
    ...['--by', 'mira', '--reason', 'retention', ...more],
  );

describe('a wire that lost records its service has not read', () => {
  it('holds everything until then: there is nothing to accept', async () => {
    await declare('before');
    await system.until('it is read', async () => (Number((await loop())?.['seq']) > 0 ? true : null));
    const { code, note } = await acceptLoss('--yes');
    expect([code, note]).toEqual([EXIT.refused, expect.stringContaining('NOTHING_LOST')]);
  }, 60_000);

  it('halts the partition with CURSOR_OUT_OF_RANGE, and names the command', async () => {
    await stopped();
    for (const id of ['lost 1', 'lost 2', 'kept']) await declare(id);
    await forget((await end()) - 1);
    const starting = system.processes.start(OWNER).catch(() => 'ended');
    const problem = await system.until('the halt', async () => {
      const found = await loop().catch(() => undefined);
      return found?.['state'] === 'halted' ? String(found['problem']) : null;
    });
    expect(problem).toMatch(/^CURSOR_OUT_OF_RANGE: .*2 records are gone that were never read/);
    expect(problem).toContain(
      `recourse log accept-loss --log ${LOG} --partition ${String(partition)} --wire ${WIRE}/${String(partition)}`,
    );
    expect((await system.get('ledger', '/health/ready')).status).toBe(503);
    await stopped();
    expect(await starting).toBe('ended');
  }, 90_000);

  it('is gone on with once a person has seen what is lost and accepted it, and not before', async () => {
    const asked = await acceptLoss();
    expect([asked.code, asked.note]).toEqual([
      EXIT.usage,
      expect.stringMatching(/lost +2 records that were never read/),
    ]);
    const accepted = await acceptLoss('--yes', '--json');
    expect([accepted.code, JSON.parse(accepted.out)]).toEqual([
      EXIT.done,
      { recorded_seq: expect.any(Number), goes_on_at: (await end()) - 1 },
    ]);
    await system.processes.start(OWNER);
    await system.until('it is ready', async () => ((await loop())?.['state'] === 'ready' ? true : null));
    const again = await acceptLoss('--yes');
    expect([again.code, again.note]).toEqual([EXIT.refused, expect.stringContaining('NOTHING_LOST')]);
  }, 120_000);

  it('leaves a chain that an audit finds sound, and a state that its log makes', async () => {
    const audit = await recourse('audit', 'verify', '--log', LOG, '--json');
    expect([audit.code, (JSON.parse(audit.out) as Facts)['ok']]).toEqual([EXIT.done, true]);
    const replay = await recourse('replay', LOG, '--compare', '--json');
    expect([replay.code, (JSON.parse(replay.out) as Facts)['ok']]).toEqual([EXIT.done, true]);
  }, 60_000);
});
