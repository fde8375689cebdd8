// A person writes a log that its owner signs: with the owner's key, or not at all.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { MemoryBroker, signedKafka, testKeys } from '@recourse/kafka';
import { resolveSettings } from '../config.js';
import { desk, table } from '../desk.testing.js';
import { EXIT_CODES } from '../problem.js';
import { OPERATOR } from '../signing.js';
import { writeSecureStack } from '../stack.testing.js';
import { refuseOtherKeys, refuseSignedLog } from './owners-key.js';

const LOG = 'recourse.budgets';
const OWNER = 'budget-accountant';
const keys = testKeys({
  [OWNER]: { role: 'service', names: [OWNER] },
  'mutation-ledger': { role: 'service', names: ['mutation-ledger'] },
  agent: { role: 'producer' },
});
const folder = mkdtempSync(join(tmpdir(), 'recourse-owners-key-'));
const [whole, keyless] = [join(folder, 'whole'), join(folder, 'keyless')];
const keyring = writeSecureStack(whole, { keys, users: [OWNER, 'mutation-ledger', 'agent', OPERATOR] });
writeSecureStack(keyless, { keys, users: ['agent'] });
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const place = { log: LOG, owner: OWNER, dataDir: null };
const keyOf = (id: string) => ({
  RECOURSE_SIGNING_KEY_FILE: join(whole, `${id}.pem`),
  RECOURSE_SIGNING_KEY_ID: id,
});
const signingIn = (dataDir: string, user: string, environment: NodeJS.ProcessEnv = {}) =>
  resolveSettings({ dataDir }, environment, folder).signing({ user });

describe('the keys of the command line', () => {
  it('are those that a secure development stack keeps: its keyring, and the key of who owns the log', () => {
    const signing = signingIn(whole, OWNER);
    expect(signing?.signer?.keyId).toBe(OWNER);
    expect([...(signing?.keyring().keys() ?? [])]).toEqual([...keys.keyring.keys()]);
    expect(() => {
      refuseOtherKeys(signing, place);
    }).not.toThrow();
  });

  it('are none to sign with for who only reads', () => {
    expect(signingIn(whole, OPERATOR)).toMatchObject({ signer: null });
  });

  it('are those of the environment where it names any, and none where it says that wires are open', () => {
    expect(signingIn(whole, OWNER, keyOf('agent'))?.signer?.keyId).toBe('agent');
    expect(signingIn(keyless, OWNER, { RECOURSE_WIRES: 'strict', ...keyOf(OWNER) })?.signer?.keyId).toBe(OWNER);
    expect(signingIn(whole, OWNER, { RECOURSE_WIRES: 'open' })).toBeNull();
  });
});

describe('a record of a log that is signed', () => {
  const word = ['--by', 'mira', '--reason', 'r'];
  const onLog = ['--log', LOG, '--partition', '0', ...word, '--yes'];
  const commands = [
    ['accept-cut', OWNER, ...onLog],
    ['accept-loss', OWNER, ...onLog, '--wire', 'recourse.tool-executions/0'],
    ['accept-time', OWNER, ...onLog],
    ['close-alarm', 'auditor', 'alm_1', ...word],
  ] as const;

  it.each(commands)('is not written without a key of the owner: %s', async (name, owner, ...args) => {
    const { call, note } = desk(table({}), { environment: {}, folder });
    expect(await call('--data-dir', keyless, 'log', name, ...args)).toBe(EXIT_CODES.usage.code);
    expect(note()).toContain('OWNER_KEY_MISSING');
    expect(note()).toContain(`the signing key of ${owner}`);
    expect(note()).toContain(`${keyless}/system.json`);
    for (const end of ['KEYRING_FILE', 'SIGNING_KEY_FILE', 'SIGNING_KEY_ID'])
      expect(note()).toContain(`RECOURSE_${end}`);
  });

  it.each(['mutation-ledger', 'agent'])('is not written with the key of another: %s', async (id) => {
    const { call, note } = desk(table({}), { environment: keyOf(id), folder });
    expect(await call('--data-dir', whole, 'log', 'accept-cut', ...onLog)).toBe(EXIT_CODES.usage.code);
    expect(note()).toContain(`OWNER_KEY_INVALID: by the keyring the key ${id} does not speak as ${OWNER}`);
  });

  it('is not written with a key that the keyring does not know under its id', () => {
    const others = testKeys({ [OWNER]: { role: 'service', names: [OWNER] } });
    const signing = signingIn(whole, OWNER, { RECOURSE_KEYRING_FILE: keyring });
    expect(() => {
      refuseOtherKeys(signing && { ...signing, signer: others.signer(OWNER) }, place);
    }).toThrow('SIGNATURE_INVALID');
  });

  it('is not written where nothing is said of keys, and the log is signed', async () => {
    const broker = new MemoryBroker({});
    broker.ensureTopics([{ name: LOG, partitions: 1 }]);
    const kafka = broker.forActor('person');
    const record = { key: Buffer.from('k'), value: Buffer.from('v') };
    await (await kafka.logProducer()).send(LOG, 0, [record, record]);
    await expect(refuseSignedLog(kafka, 0, place)).resolves.toBeUndefined();
    const signing = signingIn(whole, OWNER);
    if (signing === null) throw new Error('the stack keeps keys');
    await (await signedKafka(kafka, signing).logProducer()).send(LOG, 0, [record]);
    await expect(refuseSignedLog(kafka, 0, place)).rejects.toMatchObject({
      code: 'OWNER_KEY_MISSING',
      message: expect.stringContaining('record at offset 2 is signed'),
    });
  });
});
