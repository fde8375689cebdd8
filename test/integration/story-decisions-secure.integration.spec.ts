// A run of a secure stack, taken away with its decisions: wires are signed, brokers ask who reads, and an auditor proves each record (D58).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createKafka, signingFrom } from '@recourse/kafka';
import { ownerOfLog } from '@recourse/messages';
import { createProducer, systemClock } from '@recourse/sdk';
import { cliAt } from './guide.testing.js';
import type { Ran } from './guide.testing.js';
import { itemsOf, startSystem, TENANT, until } from './system.testing.js';
import type { Person, System } from './system.testing.js';

const READER: Person = { subject: 'vera', roles: ['payload_reader', 'auditor'], tenant: TENANT };
const RUN = 'run-secure';
const SECRET = 'planted-in-arguments';

interface Replay {
  readonly outcome: string;
  readonly decisions: readonly { readonly type: string; readonly outcome: string; readonly code: string | null }[];
}

interface Packed {
  readonly decisions: { readonly pins: readonly { readonly input: { readonly value: string } }[] };
}

const folder = mkdtempSync(join(tmpdir(), 'recourse-story-secure-'));
let system: System;
let secrets: string;
let last: string;
let keyring: Readonly<Record<string, string>>;

beforeAll(async () => {
  system = await startSystem({ secure: true, withAuditor: true });
  secrets = join(dirname(system.plan.audited?.auditorKeyFile ?? ''), 'secrets');
  keyring = { RECOURSE_WIRES: 'strict', RECOURSE_KEYRING_FILE: join(secrets, 'keyring.json') };
  await tell();
}, 300_000);
afterAll(async () => {
  await system.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);

/** As the agent of the stack, under its key. */
async function tell(): Promise<void> {
  const signing = signingFrom(
    {
      wires: 'strict',
      keyringFile: keyring['RECOURSE_KEYRING_FILE'],
      signingKeyFile: join(secrets, 'keys', 'agent.pem'),
      signingKeyId: 'agent',
    },
    { ownerOf: ownerOfLog, clock: systemClock },
  );
  const password = readFileSync(join(secrets, 'users', 'agent.password'), 'utf8').trim();
  const sasl = { mechanism: 'scram-sha-512', username: 'agent', password } as const;
  const kafka = createKafka({ brokers: [...system.stack.kafka.brokers], clientId: 'agent', sasl, signing });
  const producer = await createProducer({ kafka, codecs: system.codecs, source: 'agent:planner' });
  const call = { tenant: TENANT, runId: RUN, agentId: 'agent:planner', initiator: 'asha', objective: 'keep notes' };
  const what = { stepId: 'step', callId: 'call-1', capability: 'notes.write', contractDigest: null };
  const key = { effectKey: 'eff_1', idempotencyKey: 'key-1', subjectRef: 'note/1', assumptionRefs: [] };
  const ended = { outcome: 'succeeded', committedAt: Date.now(), result: null, priorValue: null } as const;
  await producer.toolExecuted(
    { ...call, ...what, ...key, args: { text: SECRET } },
    { ...ended, externalTransactionRef: null, errorKind: null },
  );
  await producer.close();
  await until('the effect on record', async () => {
    const found = itemsOf(await system.get('ledger', `/v1/mutations?run_id=${RUN}`));
    return found[0] ?? null;
  });
}

/** Whose files and keys the command line is given. */
interface Given {
  /** A user of Kafka; null: what the stack's own files say. */
  readonly user: string | null;
  readonly keys: Readonly<Record<string, string>>;
}

const recourse = ({ user, keys }: Given, ...args: readonly string[]): Promise<Ran> => {
  const speaks =
    user === null
      ? { RECOURSE_DATA_DIR: dirname(secrets) }
      : {
          RECOURSE_KAFKA_USER: user,
          RECOURSE_KAFKA_PASSWORD_FILE: join(secrets, 'users', `${user}.password`),
          RECOURSE_KEY_STORE_URL: system.plan.keyStoreUrl,
        };
  const seat = { system, folder, person: READER, saidTo: null, environment: { ...keys, ...speaks } };
  return cliAt(seat, ['audit', ...args]);
};

/** The packet as this user wrote it once the auditor's heads cover it, replayed with the keys. */
async function taken(
  user: string | null,
  file: string,
  keys = keyring,
): Promise<readonly (readonly (string | null)[])[]> {
  const { headsFile, auditorKeyFile } = system.plan.audited ?? { headsFile: '', auditorKeyFile: '' };
  let tries = 0;
  await until('heads that cover the run', async () => {
    const name = tries === 0 ? file : `${String(tries)}-${file}`;
    const settings = join(dirname(secrets), 'settings.env');
    const story = ['story', RUN, '--decisions', '--settings', settings, '--open', '--packet', name];
    const { code, note } = await recourse(
      { user, keys },
      ...story,
      '--auditor-key',
      auditorKeyFile,
      '--heads',
      headsFile,
    );
    if (code === 0) tries += 1;
    last = name;
    return /(\d+) of its \1 records are proved/.test(note) ? name : null;
  });
  const { out } = await recourse({ user, keys }, 'replay-story', last, '--open', '--json');
  const { decisions } = JSON.parse(out) as Replay;
  return decisions.map(({ type, outcome, code }) => [type, outcome, code]);
}

describe('a run of a secure stack, taken away with its decisions', () => {
  it('is decided again by who reads the wires as the service does, with the keyring and the keys, and proved', async () => {
    expect(await taken('mutation-ledger', 'service.json')).toEqual([['MutationRecorded', 'equal', null]]);
    const { auditorKeyFile = '' } = system.plan.audited ?? {};
    const given = { user: 'mutation-ledger', keys: keyring };
    expect((await recourse(given, 'check-story', last, '--auditor-key', auditorKeyFile)).code).toBe(0);
    const { decisions } = JSON.parse(readFileSync(join(folder, last), 'utf8')) as Packed;
    const values = decisions.pins.map(({ input }) => Buffer.from(input.value, 'base64').toString('latin1'));
    expect([values.length, values.filter((value) => value.includes(SECRET))]).toEqual([1, []]);
  }, 120_000);

  it('is decided again by who has the files of a development stack: each log is read as the service that owns it', async () => {
    expect(await taken(null, 'own.json')).toEqual([['MutationRecorded', 'equal', null]]);
  }, 120_000);

  it('claims no decision where nobody could tell who had signed its input', async () => {
    const told = await taken('mutation-ledger', 'unsigned.json', { RECOURSE_WIRES: 'open' });
    expect(told.filter(([, outcome]) => outcome !== 'equal')).toEqual([
      ['MutationRecorded', 'not_made', 'not_matched'],
    ]);
  }, 120_000);

  it('claims no decision whose input whoever asks may not read', async () => {
    const told = await taken('operator', 'operator.json');
    expect(told.filter(([, outcome]) => outcome !== 'equal')).toEqual([
      ['MutationRecorded', 'not_made', 'input_missing'],
    ]);
  }, 120_000);
});
