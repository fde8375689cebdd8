// How the outside speaks: wire records with retries, and commands as an edge would send them.
import { deriveId, sha256Hex } from '@recourse/kernel';
import { partitionForKey } from '@recourse/kafka';
import type { WireProducer } from '@recourse/kafka';
import type { CommandEnvelope } from '@recourse/messages';
import type { World } from './world.js';
import { PARTITIONS } from './world.js';

export interface Caller {
  readonly tenant: string;
  readonly principal: string;
  readonly roles: readonly string[];
}

export class Outside {
  #producer: WireProducer | null = null;
  #sent = 0;
  /** Told so far: distinct facts and commands, duplicates left out. */
  told = 0;

  constructor(
    private readonly world: World,
    private readonly name: string,
  ) {}

  /** Sends until the broker acknowledges; may duplicate, as producers do. */
  async send(topic: string, type: string, key: string, body: object): Promise<void> {
    await this.sendBytes(topic, key, this.world.codecs.encode(topic, type, body));
  }

  async sendBytes(topic: string, key: string, value: Buffer): Promise<void> {
    const { world } = this;
    for (;;) {
      try {
        this.#producer ??= await world.broker.forActor(this.name).wireProducer();
        await this.#producer.send(topic, [{ key: Buffer.from(key), value }]);
        return;
      } catch {
        await world.scheduler.sleep(world.actor(this.name), 20 + world.random.below(200));
      }
    }
  }

  /** Puts bytes on a partition of its choosing, as a producer with a foreign partitioner does. */
  async sendTo(topic: string, partition: number, key: string, value: Buffer): Promise<void> {
    const producer = await this.world.broker
      .forActor(this.name)
      .logProducer()
      .catch(() => null);
    await producer?.send(topic, partition, [{ key: Buffer.from(key), value }]);
  }

  /** Sends a command under an id of its own, or a given one again. */
  async command(topic: string, type: string, key: string, caller: Caller, body: object, id?: string): Promise<string> {
    const command_id = id ?? deriveId('cmd', this.name, (this.#sent += 1));
    const envelope: CommandEnvelope = {
      command_id,
      tenant: caller.tenant,
      principal: caller.principal,
      accounts: [],
      roles: caller.roles,
      route: `POST ${type}`,
      idempotency_key: command_id,
      body_sha256: Buffer.from(
        sha256Hex(JSON.stringify(body, (_name, value: unknown) => (typeof value === 'bigint' ? String(value) : value))),
        'hex',
      ),
      issued_at: this.world.databaseNow(),
      signature: Buffer.alloc(0),
    };
    if (id === undefined) this.told += 1;
    await this.send(topic, type, key, { envelope, ...body });
    return command_id;
  }
}

/** A key that lives on a partition. */
export function keyOn(partition: number, hint: string): string {
  for (let n = 0; ; n += 1) {
    const key = `${hint}-${String(n)}`;
    if (partitionForKey(key, PARTITIONS) === partition) return key;
  }
}
