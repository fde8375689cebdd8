// A development stack for specs: issuer, registry and ledger as one small edge, a stack file in a folder, Kafka in memory.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contractBody, contractDigest } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { createCodecs } from '@recourse/messages';
import { testEdge } from '../edge/edge.testing.js';
import type { EdgeCall, TestEdge } from '../edge/edge.testing.js';
import { refundContract } from '../guard/guard.testing.js';
import { MemoryProducer } from '../producer/producer.memory.js';
import type { ConnectOptions } from './connect.messages.js';

/** A contract that asks nobody and reserves nothing: what is left is to act. */
export const TEST_CONTRACT: Contract = (({ value: _value, ...rest }) => rest)(refundContract);

/** A token as far as whoever holds it reads it: what it claims. */
export function tokenOf(claims: object): string {
  return `header.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`;
}

type Answer = readonly [number, object];

/** Everything a connection finds by itself. */
export class TestStack {
  /** Folder that a program stands in; the stack's data is in a folder above it. */
  readonly folder: string;
  readonly calls: EdgeCall[] = [];
  readonly broker = new MemoryBroker();
  readonly producer = new MemoryProducer();
  readonly contracts = new Map<string, { readonly contract: Contract; readonly retired: boolean }>();
  /** Answers that stand in front of the stack's own, by path without query. */
  readonly answers = new Map<string, Answer>();
  private readonly root = mkdtempSync(join(tmpdir(), 'recourse-connect-'));
  private constructor(private readonly edge: TestEdge) {
    this.folder = join(this.root, 'projects', 'agent');
    mkdirSync(this.folder, { recursive: true });
  }

  static async start(): Promise<TestStack> {
    const held: { stack: TestStack | null } = { stack: null };
    const edge = await testEdge((call) => Promise.resolve(held.stack?.answer(call) ?? [503, {}]));
    held.stack = new TestStack(edge);
    return held.stack;
  }

  get url(): string {
    return this.edge.url;
  }

  /** Leaves the file of a development stack. */
  leaveFile(more: object = {}): string {
    const dataDir = join(this.root, '.recourse', 'data');
    mkdirSync(dataDir, { recursive: true });
    const { url } = this;
    const file = {
      urls: { issuer: url, registry: url, ledger: url, orchestrator: url, budget: url },
      brokers: ['127.0.0.1:1'],
      registry_url: url,
      log_id: 'log',
      databases: {},
      ...more,
    };
    writeFileSync(join(dataDir, 'system.json'), JSON.stringify(file));
    return dataDir;
  }

  /** What a program says where it says nothing but its name. */
  options(more: Partial<ConnectOptions> = {}): ConnectOptions {
    const codecs = createCodecs(new MemoryRegistry().forActor('agent'));
    const kafka = this.broker.forActor('agent');
    return {
      name: 'refund-agent',
      environment: {},
      folder: this.folder,
      kafka,
      codecs,
      producer: this.producer,
      ...more,
    };
  }

  stop(): void {
    this.edge.close();
    rmSync(this.root, { recursive: true, force: true });
  }

  private answer(call: EdgeCall): Answer {
    this.calls.push(call);
    const path = call.path.split('?')[0] ?? '';
    const standing = this.answers.get(path);
    if (standing !== undefined) return standing;
    if (path === '/token') return [200, { access_token: tokenOf(call.body), expires_in: 3_600 }];
    if (path === '/v1/contracts') return [200, { items: [...this.contracts.keys()].map((name) => ({ name })) }];
    const name = /^\/v1\/contracts\/(.+)$/.exec(path)?.[1];
    const held = name === undefined ? undefined : this.contracts.get(name);
    if (held === undefined)
      return path.startsWith('/v1/entries/') ? [200, { items: [] }] : [404, { code: 'NOT_FOUND' }];
    const body = contractBody(held.contract);
    return [200, { body, digest: contractDigest(body).toString('hex'), retired: held.retired }];
  }
}
