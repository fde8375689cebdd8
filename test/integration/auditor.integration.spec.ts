// The auditor and a witness as processes on a real broker: heads are signed, outlive a kill, and show what is done to a log.
// Runs docs/guides/verify-without-us.md: keys, dump, verification and proof by the commands of its shell blocks.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { run } from '@recourse/cli';
import { choosePorts, startProcesses, startTestStack } from '@recourse/dev-stack';
import type { Processes, TestStack } from '@recourse/dev-stack';
import { OwnLog } from '@recourse/event-log';
import { createKafka, createSchemaRegistry, cutTopic } from '@recourse/kafka';
import type { Kafka } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { plannedTopics } from '@recourse/service/provision';
import { pinnedRoot } from './auditor.testing.js';
import { commandsIn, runWords } from './guide.testing.js';
import type { Ran } from './guide.testing.js';

const LOG = 'recourse.mutations';
const HEADS = 'recourse.signed-heads';
const LOG_ID = 'audited';
const PATIENCE_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'recourse-auditor-'));
let stack: TestStack;
let kafka: Kafka;
let processes: Processes;
let key: string;

/** Commands of the guide: the first two make keys, the last one checks a proof in Python. */
const [NEW_AUDITOR = '', NEW_WITNESS = '', ...AFTERWARDS] = commandsIn('verify-without-us');
const inGuide = (command: string): Promise<Ran> => runWords(command, { folder, recourse });

async function recourse(...args: readonly string[]): Promise<Ran> {
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
      RECOURSE_LOG_ID: LOG_ID,
    },
    folder,
    fetch,
  });
  return { code, out: out.join('\n'), note: note.join('\n') };
}

async function write(count: number, mark: number): Promise<number> {
  const codecs = createCodecs(createSchemaRegistry({ url: stack.registryUrl, timeoutMs: 30_000 }));
  await codecs.prepareWriter(LOG, { register: true });
  await codecs.prepareWriter(HEADS, { register: true });
  const log = new OwnLog({ kafka, codecs, topic: LOG, partition: 0, partitionCount: 1, logId: LOG_ID });
  await log.prepare();
  for await (const _records of log.read(log.origin()));
  const batch = log.seal(1_000);
  for (let n = 0; n < count; n += 1)
    batch.add({ type: 'Progress', body: { cursors: [], reacted_seq: mark } }, 'progress');
  expect(await log.append(batch)).toBe('accepted');
  const { seq } = log.position.head;
  await log.close();
  return seq;
}

async function until<T>(what: string, look: () => Promise<T | null>): Promise<T> {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end;) {
    const found = await look();
    if (found !== null) return found;
    await new Promise((rest) => setTimeout(rest, 250));
  }
  throw new Error(`${what} did not come`);
}

/** Waits until a head of this many records is signed; answers its note. */
function signed(size: number): Promise<string> {
  return until(`a head of ${size}`, () => {
    const text = readText(join(folder, 'heads', 'heads.notes'));
    const note = text.split(/(?<=\n— [^\n]+\n)\n/u).find((one) => one.startsWith(`${LOG_ID}/${LOG}/0\n${size}\n`));
    return Promise.resolve(note ?? null);
  });
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

const alarms = async (): Promise<readonly string[]> => {
  const codecs = createCodecs(createSchemaRegistry({ url: stack.registryUrl, timeoutMs: 30_000 }));
  const log = new OwnLog({ kafka, codecs, topic: HEADS, partition: 0, partitionCount: 1, logId: LOG_ID });
  await log.prepare();
  const ids: string[] = [];
  for await (const records of log.read(log.origin()))
    ids.push(
      ...records.flatMap(({ type, body }) =>
        type === 'AlarmRaised' ? [`${String(body['finding'])} ${String(body['alarm_id'])}`] : [],
      ),
    );
  await log.close();
  return ids;
};

beforeAll(async () => {
  stack = await startTestStack({ withSchemas: true });
  kafka = createKafka({ brokers: stack.kafka.brokers, clientId: 'auditor-spec' });
  const admin = await kafka.admin();
  await admin.ensureTopics(plannedTopics({ partitions: 1, replication: 1, min_insync_replicas: 1, adapters: [] }));
  await admin.close();
  await write(20, 1);
  for (const command of [NEW_AUDITOR, NEW_WITNESS]) expect(await inGuide(command)).toMatchObject({ code: 0 });
  key = readText(join(folder, 'auditor.vkey'));
  const witnessKey = readText(join(folder, 'witness.vkey'));
  const ports = await choosePorts(['auditor', 'witness']);
  const urlOf = (name: 'auditor' | 'witness'): string => `http://127.0.0.1:${ports[name]}`;
  processes = await startProcesses(
    [
      {
        name: 'witness',
        entry: join(pinnedRoot, 'apps/auditor/dist/witness.main.js'),
        readyUrl: `${urlOf('witness')}/health`,
        env: {
          RECOURSE_WITNESS_NAME: 'witness.example',
          RECOURSE_WITNESS_KEY_FILE: join(folder, 'witness.pem'),
          RECOURSE_WITNESS_AUDITORS: key,
          RECOURSE_WITNESS_FOLDER: join(folder, 'witness'),
          RECOURSE_HTTP_PORT: String(ports.witness),
        },
      },
      {
        name: 'auditor',
        entry: join(pinnedRoot, 'apps/auditor/dist/main.js'),
        stage: 1,
        readyWithinMs: 60_000,
        readyUrl: `${urlOf('auditor')}/health/ready`,
        env: {
          RECOURSE_KAFKA_BROKERS: stack.kafka.brokers.join(','),
          RECOURSE_WIRES: 'open',
          RECOURSE_REGISTRY_URL: stack.registryUrl,
          RECOURSE_LOG_ID: LOG_ID,
          RECOURSE_AUDITOR_NAME: 'auditor.example',
          RECOURSE_AUDITOR_KEY_FILE: join(folder, 'auditor.pem'),
          RECOURSE_AUDITOR_FOLDER: join(folder, 'heads'),
          RECOURSE_AUDITOR_WITNESSES: `${witnessKey}=${urlOf('witness')}`,
          RECOURSE_AUDITOR_EVERY_MS: '500',
          RECOURSE_HTTP_PORT: String(ports.auditor),
        },
      },
    ],
    { logDir: folder },
  );
}, 240_000);

afterAll(async () => {
  await processes.stop();
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

describe('an auditor on a real broker', () => {
  it('signs what it read, with a witness beside it', async () => {
    expect(await signed(20)).toMatch(/\n— auditor\.example \S+\n— witness\.example \S+\n$/u);
  }, 120_000);

  it('goes on from its own heads after kill -9, and the witness too', async () => {
    await processes.kill('auditor', 'SIGKILL');
    await processes.kill('witness', 'SIGKILL');
    await write(15, 1);
    await processes.start('witness');
    await processes.start('auditor');
    expect(await signed(35)).toContain('— witness.example');
    expect(await alarms()).toEqual([]);
  }, 120_000);

  it('is verified as docs/guides/verify-without-us.md says, command by command', async () => {
    const ran: (readonly [string, Ran])[] = [];
    for (const command of AFTERWARDS.filter((each) => each.startsWith('npx ')))
      ran.push([command, await inGuide(command)]);
    expect(ran.map(([command, { code }]) => [command.split(' ').slice(2, 4).join(' '), code])).toEqual([
      ['audit dump', 0],
      ['audit verify', 0],
      ['audit prove', 0],
      ['audit check-proof', 0],
    ]);
    expect(ran[1]?.[1].out).toContain('"accepted": 35');
    expect(ran.at(-1)?.[1].out).toBe('The proof holds.');
    // What is left is for the checker that shares no code with us; test/interop runs it.
    expect(AFTERWARDS.filter((each) => !each.startsWith('npx '))).toEqual([
      expect.stringMatching(/^python test\/interop\/check_proof\.py proof\.json /u),
    ]);
  }, 120_000);

  it('lets anybody verify the logs against its heads, and prove a record', async () => {
    const { code, out } = await recourse('audit', 'verify', '--log', LOG, '--auditor-key', key, '--json');
    expect([code, out]).toEqual([0, expect.stringContaining('"accepted": 35')]);
    expect((await recourse('audit', 'prove', `${LOG}/0/7`, '--auditor-key', key, '--out', 'proof-7.json')).code).toBe(
      0,
    );
    expect((await recourse('audit', 'check-proof', 'proof-7.json', '--auditor-key', key)).out).toBe('The proof holds.');
    expect(
      (await recourse('audit', 'watch', '--log', LOG, '--auditor-key', key, '--times', '2', '--every-ms', '100')).code,
    ).toBe(0);
  }, 120_000);

  it('raises an alarm on a log that was put back and grew on, and so does whoever verifies it', async () => {
    await cutTopic({ brokers: stack.kafka.brokers, topic: LOG, partition: 0, keep: 25 });
    await write(30, 2);
    const [alarm = ''] = await until('an alarm', async () => {
      const found = await alarms();
      return found.length > 0 ? found : null;
    });
    expect(alarm).toMatch(/^(regrown|cut_tail) /);
    const verified = await recourse('audit', 'verify', '--log', LOG, '--auditor-key', key);
    expect([verified.code, verified.out]).toEqual([1, expect.stringContaining('regrown')]);
    // It may find more than one thing: nobody else writes to the log of heads once it has told them all.
    let told = '';
    await until('all alarms', async () => {
      const before = told;
      await new Promise((rest) => setTimeout(rest, 2_000));
      told = (await alarms()).join();
      return told === before ? true : null;
    });
    const closed = await recourse(
      'log',
      'close-alarm',
      alarm.split(' ')[1] ?? '',
      '--reason',
      'a drill',
      '--by',
      'ada',
    );
    expect(closed).toMatchObject({ code: 0 });
  }, 120_000);
});
