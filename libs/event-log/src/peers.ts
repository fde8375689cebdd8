// The other instances of a service. One that died is put out of the group at once: a group by itself misses it only after its
// session, for which nobody works on what it owned. Strangers in the group are told of.
//
// Boundary: asks who is here and who is in the group; who owns what remains the group's word, and the chain makes a wrong
// word harmless (L13): a living instance that is put out joins again.
//
// Invariants
//   I1. Put out is only who was seen here and then was not, while this instance was here itself; before a join, every instance
//       that is not here. Who has left the group by itself is not put out.
//   I2. After any failure nobody counts as seen: what could not be asked says nothing about others.
import type { Clock } from '@recourse/kernel';
import { Failure } from '@recourse/kernel';
import type { ConsumerGroup, GroupMember } from '@recourse/kafka';
import { BackgroundLoop } from './background.js';
import { deadIn, foreignIn, foreignMessage } from './peers.decisions.js';
import type { Presence } from './presence.port.js';

export interface PeersOptions {
  readonly presence: Presence;
  readonly group: ConsumerGroup;
  readonly groupId: string;
  /** Names of instances begin with this. */
  readonly kin: string;
  readonly clock: Clock;
  /** Others were put out, or strangers came or went. */
  readonly onEvent: (event: PeerEvent) => void;
}

export type PeerEvent =
  | { readonly kind: 'put_out'; readonly members: readonly GroupMember[] }
  | { readonly kind: 'foreign'; readonly members: readonly GroupMember[] }
  | { readonly kind: 'failed'; readonly cause: unknown };

/** A death is noticed within this; a question to the database takes less than a millisecond of it. */
const LOOK_EVERY_MS = 100;
/** Who is in the group is asked at each join, and so often for strangers. */
const MEMBERS_EVERY_MS = 2_000;

export class Peers {
  #own: string | null = null;
  #members: readonly GroupMember[] = [];
  #membersAt = -Infinity;
  #seen = new Set<string>();
  #foreign: readonly GroupMember[] = [];
  readonly #loop: BackgroundLoop;

  constructor(private readonly options: PeersOptions) {
    const { clock, onEvent } = options;
    this.#loop = new BackgroundLoop({
      clock,
      turn: () => this.#look(),
      onError: (cause) => {
        this.#seen.clear();
        onEvent({ kind: 'failed', cause });
        return 'retry';
      },
    });
  }

  /** Strangers in the group who were given partitions; null without any. */
  get problem(): Failure | null {
    const message = foreignMessage(this.options.groupId, this.#foreign);
    return message === null ? null : new Failure('FOREIGN_MEMBER', message);
  }

  /** Names of the other instances that were in the group a moment ago; null where it told of nobody yet. */
  get others(): readonly string[] | null {
    const { kin } = this.options;
    if (this.#members.length === 0) return null;
    return this.#members.map(({ name }) => name).filter((name) => name !== this.#own && name.startsWith(kin));
  }

  get foreign(): number {
    return this.#foreign.length;
  }

  /** Before a join: shows itself, and puts out whoever of this service died, so that the group waits for nobody. Never fails: a group ends sessions by itself. */
  async beforeJoin(name: string): Promise<void> {
    const { presence, group, kin } = this.options;
    this.#own = name;
    this.#seen.clear();
    try {
      await presence.show(name);
      await this.#learn();
      const here = await presence.here([name, ...this.#members.map((member) => member.name)]);
      if (here.has(name)) await this.#putOut(deadIn({ members: this.#members, here, kin }), group);
    } catch (cause) {
      this.options.onEvent({ kind: 'failed', cause });
    }
    this.#loop.start();
  }

  /** The group has turned: others are in it. */
  joined(): void {
    this.#membersAt = -Infinity;
    this.#loop.wake();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.options.presence.close();
    await this.options.group.close();
  }

  async #look(): Promise<number> {
    const { presence, group, clock, kin } = this.options;
    if (this.#own === null) return LOOK_EVERY_MS;
    if (clock.monotonic() - this.#membersAt >= MEMBERS_EVERY_MS) await this.#learn();
    const others = this.#members.filter(({ name }) => name !== this.#own && name.startsWith(kin));
    if (others.length === 0) return LOOK_EVERY_MS;
    const here = await presence.here([this.#own, ...others.map(({ name }) => name)]);
    const isHere = here.has(this.#own);
    const dead = isHere ? deadIn({ members: others, here, kin }).filter(({ name }) => this.#seen.has(name)) : [];
    if (isHere) for (const name of here) this.#seen.add(name);
    await this.#putOutUnlessGone(dead, group);
    return LOOK_EVERY_MS;
  }

  /** Who was stopped in order has left the group by itself, maybe since it was last asked who is in it. */
  async #putOutUnlessGone(dead: readonly GroupMember[], group: ConsumerGroup): Promise<void> {
    if (dead.length === 0) return;
    await this.#learn();
    const isIn = new Set(this.#members.map(({ memberId }) => memberId));
    await this.#putOut(
      dead.filter(({ memberId }) => isIn.has(memberId)),
      group,
    );
  }

  async #putOut(dead: readonly GroupMember[], group: ConsumerGroup): Promise<void> {
    if (dead.length === 0) return;
    await group.remove(dead.map(({ memberId }) => memberId));
    this.#members = this.#members.filter((member) => !dead.includes(member));
    this.options.onEvent({ kind: 'put_out', members: dead });
  }

  async #learn(): Promise<void> {
    this.#members = await this.options.group.members();
    this.#membersAt = this.options.clock.monotonic();
    const foreign = foreignIn({ members: this.#members, kin: this.options.kin });
    const isNews =
      foreign.map(({ memberId }) => memberId).join() !== this.#foreign.map(({ memberId }) => memberId).join();
    this.#foreign = foreign;
    if (isNews) this.options.onEvent({ kind: 'foreign', members: foreign });
  }
}
