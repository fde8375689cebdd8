// Acknowledgements that are none: of who was not asked, of another rollback or tenant, and second answers that differ.
import type { RollbackAcknowledged } from '@recourse/messages';
import type { Outside } from './outside.js';
import type { Random } from './random.js';
import { rowsOf } from './rows.js';
import { PARTITIONS } from './world.js';
import type { World } from './world.js';

const ACKS = 'recourse.consumer-acks';

/** What the ledger shows of a delivery. */
interface Shown {
  readonly tenant: string;
  readonly run_id: string;
  readonly mutation_id: string;
  readonly rollback_id: string;
  readonly consumer: string;
  readonly phase: string;
  readonly answer: Pick<RollbackAcknowledged, 'event_id' | 'applied_at' | 'derived' | 'emissions'> | null;
}

export class Forgeries {
  #count = 0;

  constructor(
    private readonly world: World,
    private readonly outside: Outside,
    private readonly random: Random,
  ) {}

  /** Somebody answers what they were not asked. */
  forge(): void {
    const shown = this.#some(() => true);
    if (shown === null) return;
    const genuine = this.#ackOf(shown);
    const what = this.random.weighted({ stranger: 4, rollback: 2, tenant: 2, malformed: 1 } as const);
    switch (what) {
      case 'stranger':
        this.#send({ ...genuine, consumer: 'mallory' }, 'ACK_NOT_DUE');
        return;
      case 'rollback':
        this.#send({ ...genuine, rollback_id: `not ${shown.rollback_id}` }, 'ACK_UNKNOWN_ROLLBACK');
        return;
      case 'tenant':
        this.#send({ ...genuine, tenant: shown.tenant === 'acme' ? 'beta' : 'acme' }, 'ACK_FOREIGN');
        return;
      case 'malformed':
        this.#send({ ...genuine, applied_at: -1 }, 'ACK_MALFORMED');
    }
  }

  /** Who has answered answers again: with the same words, or with others. */
  again(): void {
    const shown = this.#some(({ answer }) => answer !== null);
    const answer = shown?.answer ?? null;
    if (shown === null || answer === null) return;
    const { event_id, applied_at, derived, emissions } = answer;
    if (this.random.chance(0.4))
      void this.outside.send(ACKS, 'RollbackAcknowledged', shown.run_id, {
        ...this.#ackOf(shown),
        event_id,
        applied_at,
        derived,
        emissions,
      });
    else
      this.#send(
        {
          ...this.#ackOf(shown),
          derived,
          emissions: [...emissions, { kind: 'email', ref: 'forgotten', emitted_at: applied_at }],
        },
        'ACK_CONFLICT',
      );
  }

  #ackOf({ tenant, run_id, mutation_id, rollback_id, consumer }: Shown): RollbackAcknowledged {
    return {
      event_id: `forged-${String((this.#count += 1))}`,
      tenant,
      run_id,
      mutation_id,
      rollback_id,
      consumer,
      applied_at: this.world.databaseNow(),
      derived: [],
      emissions: [],
    };
  }

  #send(ack: RollbackAcknowledged, code: string): void {
    this.world.forged.set(ack.event_id, code);
    void this.outside.send(ACKS, 'RollbackAcknowledged', ack.run_id, ack);
  }

  #some(isWanted: (shown: Shown) => boolean): Shown | null {
    const partition = this.random.below(PARTITIONS);
    const found = rowsOf<Shown>(this.world, 'mutation-ledger', 'recourse.mutations', partition, 'delivery').filter(
      isWanted,
    );
    return found.length === 0 ? null : this.random.pick(found);
  }
}
