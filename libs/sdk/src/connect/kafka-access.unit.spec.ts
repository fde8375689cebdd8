// As whom a connection speaks to Kafka: the environment first, then a user that a secure development stack keeps.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConnectProblem } from './connect.problem.js';
import { kafkaAccessFor } from './kafka-access.js';
import type { StackFile } from './stack-file.js';

let folder = '';
let stack: StackFile;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-kafka-access-'));
  const fileOf = (user: string): string => {
    const file = join(folder, `${user}.password`);
    writeFileSync(file, `secret of ${user}\n`, { mode: 0o600 });
    return file;
  };
  stack = {
    dataDir: folder,
    urls: { issuer: '', registry: '', ledger: '', orchestrator: '', budget: '', notifier: null },
    brokers: ['127.0.0.1:1'],
    registryUrl: '',
    logId: 'log',
    keyringFile: null,
    signingKeys: {},
    databases: {},
    keyStoreUrl: null,
    kafkaUsers: { agent: fileOf('agent'), 'mail-worker': fileOf('mail-worker') },
  };
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const sasl = (username: string): object => ({
  sasl: { mechanism: 'scram-sha-512', username, password: `secret of ${username}` },
});

describe('a connection to a secure stack', () => {
  it('speaks as the first of its users that the stack keeps, else as its agent', () => {
    expect(kafkaAccessFor(['my-worker', 'mail-worker'], {}, stack)).toEqual(sasl('mail-worker'));
    expect(kafkaAccessFor(['room-agent'], {}, stack)).toEqual(sasl('agent'));
  });

  it('speaks as whom the environment says, whatever the stack keeps', () => {
    const environment = {
      RECOURSE_KAFKA_USER: 'mail-worker',
      RECOURSE_KAFKA_PASSWORD_FILE: stack.kafkaUsers['mail-worker'],
    };
    expect(kafkaAccessFor(['agent'], environment, stack)).toEqual(sasl('mail-worker'));
  });

  it('is nobody in particular where nobody is asked', () => {
    expect(kafkaAccessFor(['agent'], {}, { ...stack, kafkaUsers: {} })).toEqual({});
    expect(kafkaAccessFor(['agent'], {}, null)).toEqual({});
  });

  it('is refused with half of a user, and with a file that is not there', () => {
    const codeOf = (environment: Readonly<Record<string, string>>): string | null => {
      try {
        kafkaAccessFor(['agent'], environment, stack);
        return null;
      } catch (error) {
        return error instanceof ConnectProblem ? error.code : String(error);
      }
    };
    expect(codeOf({ RECOURSE_KAFKA_USER: 'agent' })).toBe('KAFKA_ACCESS_INVALID');
    expect(codeOf({ RECOURSE_KAFKA_USER: 'agent', RECOURSE_KAFKA_PASSWORD_FILE: join(folder, 'nowhere') })).toBe(
      'KAFKA_ACCESS_INVALID',
    );
  });
});
