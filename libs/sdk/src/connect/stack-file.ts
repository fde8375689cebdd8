// The file in which a development stack says where everything is (deploy/dev writes it).
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { docOf } from '../edge/edge.js';
import type { Doc } from '../edge/edge.js';
import { ConnectProblem } from './connect.problem.js';

/** Where a development stack is. Addresses are base addresses of services. */
export interface StackFile {
  /** Folder that holds the file, absolute. */
  readonly dataDir: string;
  readonly urls: {
    readonly issuer: string;
    readonly registry: string;
    readonly ledger: string;
    readonly orchestrator: string;
    readonly budget: string;
    /** A stack without a notifier gives it no port. */
    readonly notifier: string | null;
  };
  readonly brokers: readonly string[];
  /** Schema registry. */
  readonly registryUrl: string;
  readonly logId: string;
  /** Files of passwords, by Kafka's user; empty where Kafka asks nobody who they are. */
  readonly kafkaUsers: Readonly<Record<string, string>>;
  /** Public keys that speak on its wires; null where nothing is signed, and everybody believed. */
  readonly keyringFile: string | null;
  /** Files of private keys, by user. */
  readonly signingKeys: Readonly<Record<string, string>>;
  /** By service. */
  readonly databases: Readonly<Record<string, string>>;
  /** Where the keys are that seal payloads; null where its file does not say. */
  readonly keyStoreUrl: string | null;
}

const NAME = 'system.json';
/** Where `npm start` keeps its data unless told otherwise. */
const DEFAULT_DATA_DIR = join('.recourse', 'data');

/**
 * Looks for a development stack: in the data directory named, which must hold one; else in `.recourse/data` here or in a
 * folder above.
 *
 * Errors: ConnectProblem(STACK_FILE_UNREADABLE).
 */
export function findStack(dataDir: string | undefined, folder: string): StackFile | null {
  if (dataDir !== undefined) return readStack(join(resolve(folder, dataDir), NAME));
  for (let at = resolve(folder); ; at = dirname(at)) {
    const file = join(at, DEFAULT_DATA_DIR, NAME);
    if (existsSync(file)) return readStack(file);
    if (dirname(at) === at) return null;
  }
}

function readStack(file: string): StackFile {
  try {
    return { dataDir: dirname(file), ...stackOf(docOf(JSON.parse(readFileSync(file, 'utf8')))) };
  } catch (cause) {
    throw new ConnectProblem('STACK_FILE_UNREADABLE', `${file} does not say where a stack is`, { cause });
  }
}

function stackOf(doc: Doc): Omit<StackFile, 'dataDir'> {
  const urls = docOf(doc['urls']);
  const { notifier } = urls;
  return {
    urls: {
      issuer: textIn(urls, 'issuer'),
      registry: textIn(urls, 'registry'),
      ledger: textIn(urls, 'ledger'),
      orchestrator: textIn(urls, 'orchestrator'),
      budget: textIn(urls, 'budget'),
      notifier: typeof notifier === 'string' && !notifier.endsWith(':0') ? notifier : null,
    },
    brokers: listIn(doc, 'brokers'),
    registryUrl: textIn(doc, 'registry_url'),
    logId: textIn(doc, 'log_id'),
    kafkaUsers: textsIn(doc['kafka_users'] ?? {}),
    keyringFile: typeof doc['keyring_file'] === 'string' ? doc['keyring_file'] : null,
    signingKeys: textsIn(doc['signing_keys'] ?? {}),
    databases: textsIn(doc['databases']),
    keyStoreUrl: typeof doc['key_store_url'] === 'string' ? doc['key_store_url'] : null,
  };
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(docOf(value)).map(([name, text]) => [name, String(text)]));
}

function textIn(doc: Doc, name: string): string {
  const value = doc[name];
  if (typeof value !== 'string') throw new TypeError(`${name} is missing`);
  return value;
}

function listIn(doc: Doc, name: string): readonly string[] {
  const value = doc[name];
  if (!Array.isArray(value) || value.length === 0) throw new TypeError(`${name} is missing`);
  return value.map(String);
}
