import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { ManualClock } from '@recourse/kernel';
import { consentsContract } from './consents.contract.js';
import { FileConsents } from './consents.file.js';
import { MemoryConsents } from './consents.memory.js';
import { queryLogContract } from './query-log.contract.js';
import { FileQueryLog } from './query-log.file.js';
import { MemoryQueryLog } from './query-log.memory.js';

let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'memory-policy-'));
});
afterAll(async () => {
  await rm(root, { recursive: true, force: true });
});
const directory = async (): Promise<string> => join(await mkdtemp(join(root, 'store-')), 'policy');

consentsContract('memory', () => {
  const consents = new MemoryConsents();
  return Promise.resolve({ consents, reopen: () => consents });
});
consentsContract('file', async () => {
  const where = await directory();
  const open = (): FileConsents => new FileConsents(where, new ManualClock(1));
  return { consents: open(), reopen: open };
});
queryLogContract('memory', () => {
  const log = new MemoryQueryLog();
  return Promise.resolve({ log, reopen: () => log });
});
queryLogContract('file', async () => {
  const where = await directory();
  return { log: new FileQueryLog(where), reopen: () => new FileQueryLog(where) };
});
