// The world of a consumer in memory: a ledger that announces, an edge that is polled, and what consumers answered.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { FRAME_SIZE, genesisHead, leafHash } from '@recourse/chain';
import type { Head } from '@recourse/chain';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { ManualClock } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import type { Codecs, Evidence, RollbackAcknowledged, RolledBackCommit } from '@recourse/messages';
import { ACKS_TOPIC } from './ack-outbox.js';
import { NOTIFICATIONS_TOPIC } from './notification-consumer.js';

export const LOG_ID = 'spec';
export const PARTITIONS = 2;
const HASH = Buffer.alloc(32);
const EVIDENCE: Evidence = {
  kind: 'observation',
  event_id: 'e',
  ref: 'r',
  source: 's',
  statement: null,
  stated_at: 1,
  partition: 0,
  position: 1,
  root: null,
};

/** A commit as specs name it; run, tenant and partition are those of the first of its notice. */
export interface Spec {
  readonly commit: string;
  readonly run?: string;
  readonly tenant?: string;
  readonly agent?: string;
  readonly subject?: string | null;
  readonly consumers?: readonly string[];
  readonly partition?: number;
}

function memberOf({ commit, agent = 'agent-1', subject = null, consumers = ['mailer'] }: Spec): RolledBackCommit {
  return {
    mutation_id: commit,
    rollback_id: `rb-${commit}`,
    root: null,
    agent_id: agent,
    subject_ref: subject,
    capability: 'c',
    assumption_refs: [],
    committed_at: 1,
    derived_from: [],
    has_effect: true,
    resume_checkpoint: null,
    consumers,
    initiator: null,
    contract_digest: null,
  };
}

/** One ledger, one broker, one clock. */
export class RollbackStage {
  readonly clock = new ManualClock(1_000);
  readonly broker = new MemoryBroker();
  readonly registry = new MemoryRegistry();
  private readonly heads = new Map<number, Head>();
  private readonly rolledBack: object[] = [];
  private server: Server | null = null;
  /** The edge answers so instead, as long as it is set. */
  edgeStatus: number | null = null;

  constructor() {
    this.broker.ensureTopics([
      { name: NOTIFICATIONS_TOPIC, partitions: PARTITIONS },
      { name: ACKS_TOPIC, partitions: PARTITIONS },
    ]);
  }

  codecs(): Codecs {
    return createCodecs(this.registry.forActor('consumer'));
  }

  /** Commits of a run fall together: one notice says so, and polls find each. */
  async fall(first: Spec, ...others: readonly Spec[]): Promise<void> {
    await this.announce(first, [first, ...others]);
    const { run = 'run-1', tenant = 'acme' } = first;
    for (const { commit, agent = 'agent-1', subject = null, consumers = ['mailer'] } of [first, ...others])
      this.rolledBack.push({
        tenant,
        agent_id: agent,
        run_id: run,
        commit_id: commit,
        subject_ref: subject,
        rollback_id: `rb-${commit}`,
        has_effect: true,
        consumers,
      });
  }

  /** Appends one announcement to the chain of a partition. */
  async announce(
    { run = 'run-1', tenant = 'acme', partition = 0 }: Omit<Spec, 'commit'>,
    members: readonly Spec[],
  ): Promise<void> {
    const codecs = createCodecs(this.registry.forActor('ledger'));
    await codecs.prepareWriter(NOTIFICATIONS_TOPIC, { register: true });
    const head =
      this.heads.get(partition) ??
      genesisHead({ logId: LOG_ID, topic: NOTIFICATIONS_TOPIC, partition, partitionCount: PARTITIONS });
    const body = {
      seq: head.seq + 1,
      prev_hash: head.hash,
      source_seq: 1,
      source_index: 0,
      tenant,
      run_id: run,
      caused_by: EVIDENCE,
      members: members.map(memberOf),
    };
    const [key, value] = [Buffer.from(run), codecs.encode(NOTIFICATIONS_TOPIC, 'RollbackAnnounced', body)];
    const producer = await this.broker.forActor('ledger').logProducer();
    await producer.send(NOTIFICATIONS_TOPIC, partition, [{ key, value }]);
    this.heads.set(partition, {
      seq: head.seq + 1,
      hash: leafHash(codecs.fingerprintOf(value.readInt32BE(1)) ?? HASH, key, value.subarray(FRAME_SIZE)),
    });
  }

  /** Address of the edge that is polled; it gives two rows a page. */
  async edge(): Promise<string> {
    this.server ??= createServer((request, response) => {
      const asked = new URL(request.url ?? '/', 'http://edge').searchParams;
      const from = Number(asked.get('after') ?? '0');
      const items = this.rolledBack.slice(from, from + Math.min(2, Number(asked.get('limit'))));
      response.writeHead(this.edgeStatus ?? 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          this.edgeStatus === null
            ? { items, after: String(from + items.length), more: this.rolledBack.length > from + items.length }
            : { code: 'NOT_READY' },
        ),
      );
    });
    const { server } = this;
    if (!server.listening)
      await new Promise<void>((resolve) => {
        server.listen(0, '127.0.0.1', resolve);
      });
    return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`; // it listens on a port
  }

  /** Acknowledgements on the wire, in order of partition and place. */
  async acks(): Promise<readonly RollbackAcknowledged[]> {
    return (await this.sent()).map(({ ack }) => ack);
  }

  /** Bytes of each acknowledgement on its wire. */
  async ackBytes(): Promise<readonly number[]> {
    return (await this.sent()).map(({ bytes }) => bytes);
  }

  private async sent(): Promise<readonly { readonly ack: RollbackAcknowledged; readonly bytes: number }[]> {
    const reader = await this.broker.forActor('ledger').rawReader();
    const codecs = createCodecs(this.registry.forActor('ledger'));
    const found: { readonly ack: RollbackAcknowledged; readonly bytes: number }[] = [];
    for (let partition = 0; partition < PARTITIONS; partition += 1) {
      for (const { value } of (await reader.read(ACKS_TOPIC, partition, 0)).records) {
        const first = codecs.decodeSync(value);
        if (first.kind === 'unknown_schema') await codecs.load(first.id);
        const decoded = codecs.decodeSync(value);
        // The wire holds no other record.
        if (decoded.kind === 'decoded')
          found.push({ ack: decoded.body as RollbackAcknowledged, bytes: value?.length ?? 0 });
      }
    }
    await reader.close();
    return found;
  }

  /** Lets time pass until something is so. Errors: when it never is. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 2_000; turn += 1) {
      if (await isSo()) return;
      await this.clock.advance(1);
      // A real socket needs a moment of the real world.
      if (this.server !== null)
        await new Promise((resolve) => {
          setTimeout(resolve, 1);
        });
    }
    throw new Error(`${what} did not come`);
  }

  async close(): Promise<void> {
    const { server } = this;
    if (server !== null)
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
  }
}
