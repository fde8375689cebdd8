// Commits without an outside effect: agents record what they settled on, made from earlier commits and effects of their own and other runs.
import { plainPayload } from '@recourse/contract';
import { canonicalJson, sha256Hex } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { commitIdOf, cutState } from '@recourse/lineage';
import type { Checkpoint, CheckpointState, CheckpointTaken, CommitRef, Gate, Payload } from '@recourse/messages';
import type { Caller, Outside } from './outside.js';
import type { Random } from './random.js';
import type { World } from './world.js';

const EXECUTIONS = 'recourse.tool-executions';

/** The one bundle of a world: it admits what says that it stands alone. */
export const GATE_BUNDLE = 'gate';
const GATE_BODY = canonicalJson({
  owner: 'risk',
  doc: 'What may be committed without what it was made from.',
  admission: [{ name: 'alone', when: 'gate.alone == true', reason: 'It needs what fell.' }],
  recovery: [],
});

/** What commits of a world have in common with its other stories. */
export interface Setting {
  readonly tenants: readonly string[];
  readonly tenant: () => string;
  readonly run: (tenant: string) => string;
  readonly ref: (tenant: string) => string;
  readonly id: (prefix: string) => string;
  /** An effect of a tenant that was told, as a parent; null without one. */
  readonly effect: (tenant: string) => CommitRef | null;
  readonly person: (tenant: string, principal: string, ...roles: readonly string[]) => Caller;
}

interface Told {
  readonly event: CheckpointTaken;
  readonly chunks: readonly Payload[];
}

/** A state that takes several chunks, bytes. */
const LARGE_BYTES = 200_000;
const RECENT = 25;

export class CommitStories {
  readonly #told: Told[] = [];
  #salted = 0;

  constructor(
    private readonly world: World,
    private readonly outside: Outside,
    private readonly random: Random,
    private readonly setting: Setting,
  ) {}

  /** The bundle of the gates, before anything else happens. */
  begin(): void {
    for (const tenant of this.setting.tenants) {
      void this.outside.command(
        'recourse.registry-commands',
        'RegisterEntry',
        GATE_BUNDLE,
        this.setting.person(tenant, 'rosa', 'administrator'),
        { kind: 'policy_bundle', name: GATE_BUNDLE, body: GATE_BODY },
      );
    }
  }

  /** A commit; now and then one that a trigger names before it, one whose parent is told after it, or one that is not what it says it is. */
  async commit(): Promise<void> {
    const { random } = this;
    const told = this.#made();
    if (random.chance(0.06)) this.#triggerOf(told);
    if (random.chance(0.03)) await this.#lie(told);
    if (random.chance(0.08)) await this.#tell(this.#made(told.event.tenant, told));
    if (random.chance(0.1)) await this.world.scheduler.sleep(this.world.actor('producer'), random.between(300, 6_000));
    await this.#tell(told);
  }

  /** A commit that is not the one its id names, in a run of its own: what follows it there waits for a person. */
  async #lie({ event }: Told): Promise<void> {
    const run_id = this.setting.id('lies');
    this.outside.told += 1;
    await this.outside.send(EXECUTIONS, 'CheckpointTaken', run_id, {
      ...event,
      event_id: this.setting.id('evt'),
      run_id,
      checkpoint: { ...event.checkpoint, run_id },
    });
  }

  /** Producers repeat themselves. */
  async again(): Promise<void> {
    const told = this.#some();
    if (told !== null) await this.#send(told);
  }

  trigger(): void {
    const told = this.#some();
    if (told !== null) this.#triggerOf(told);
  }

  /** A commit that was told, for others to be made from. */
  parent(tenant: string): CommitRef | null {
    const own = this.#told.slice(-RECENT).filter(({ event }) => event.tenant === tenant);
    return own.length === 0 ? null : refOf(this.random.pick(own));
  }

  #some(): Told | null {
    return this.#told.length === 0 ? null : this.random.pick(this.#told.slice(-RECENT));
  }

  #triggerOf({ event: { tenant, run_id, commit_id } }: Told): void {
    const caller = this.random.chance(0.9)
      ? this.setting.person(tenant, 'rita', 'reporter')
      : this.setting.person(tenant, 'mallory', 'reader');
    void this.outside.command('recourse.ledger-commands', 'TriggerRollback', run_id, caller, {
      run_id,
      mutation_id: commit_id,
      reason: 'it does not hold',
    });
  }

  async #tell(told: Told): Promise<void> {
    this.outside.told += 1;
    await this.#send(told);
    this.#told.push(told);
  }

  async #send({ event, chunks }: Told): Promise<void> {
    await this.outside.send(EXECUTIONS, 'CheckpointTaken', event.run_id, event);
    for (const [index, chunk] of chunks.entries()) {
      await this.outside.send(EXECUTIONS, 'StateChunk', event.run_id, {
        event_id: `${event.event_id}-${String(index)}`,
        tenant: event.tenant,
        run_id: event.run_id,
        commit_id: event.commit_id,
        index,
        chunk,
      });
    }
  }

  /** Makes a commit; `parent` is one that was not told yet. */
  #made(tenant = this.setting.tenant(), parent?: Told): Told {
    const { random, setting } = this;
    const run = parent !== undefined && random.chance(0.5) ? parent.event.run_id : setting.run(tenant);
    const before = this.#told.findLast(({ event }) => event.tenant === tenant && event.run_id === run);
    const parents = parent === undefined ? this.#parentsOf(tenant, before) : [refOf(parent)];
    const cut = this.#state(
      before !== undefined && parents.some(({ commit_id }) => commit_id === before.event.commit_id)
        ? before
        : undefined,
    );
    const checkpoint: Checkpoint = {
      tenant,
      run_id: run,
      agent_id: random.pick(['agent:a1', 'agent:a2']),
      initiator: null,
      objective: null,
      step_id: setting.id('step'),
      produced_by: 'call',
      subject_ref: random.chance(0.3) ? random.pick(['shop', 'shop/7', 'hotel']) : null,
      parents,
      assumption_refs: random.chance(0.25) ? [setting.ref(tenant)] : [],
      gate: random.chance(0.6) ? gateOf(random.chance(0.6), setting.id('salt')) : null,
      release: null,
      state: cut?.state ?? null,
      committed_at: this.world.databaseNow() - random.below(400),
    };
    const commit_id = commitIdOf(checkpoint);
    return {
      event: { event_id: setting.id('evt'), tenant, run_id: run, commit_id, checkpoint },
      chunks: cut?.chunks ?? [],
    };
  }

  /** Mostly the commit before it in its run; sometimes another run's, an effect, or one of another tenant, which it cannot reach. */
  #parentsOf(tenant: string, before: Told | undefined): readonly CommitRef[] {
    const { random, setting } = this;
    const own = before !== undefined && random.chance(0.8) ? [refOf(before)] : [];
    const other = random.chance(0.35) ? this.parent(random.chance(0.95) ? tenant : random.pick(setting.tenants)) : null;
    const effect = random.chance(0.15) ? setting.effect(tenant) : null;
    return [
      ...new Map(
        [...own, ...[other, effect].filter((one) => one !== null)].map((one) => [one.commit_id, one]),
      ).values(),
    ];
  }

  /** None, a whole one, now and then a large one, or a delta on that of the commit before it. */
  #state(before: Told | undefined): { readonly state: CheckpointState; readonly chunks: readonly Payload[] } | null {
    const { random } = this;
    if (random.chance(0.25)) return null;
    const salt = (): Buffer => {
      const bytes = Buffer.alloc(16);
      bytes.writeUInt32BE((this.#salted += 1));
      return bytes;
    };
    const isDelta = before !== undefined && before.event.checkpoint.state !== null && random.chance(0.55);
    if (isDelta) return cutState({ [random.pick(['a', 'b', 'c'])]: random.below(100) }, salt, before.event.commit_id);
    const state: Json = { n: random.below(1_000), ...(random.chance(0.01) ? { large: 'x'.repeat(LARGE_BYTES) } : {}) };
    return cutState(state, salt);
  }
}

function refOf({ event: { run_id, commit_id } }: Told): CommitRef {
  return { run_id, commit_id };
}

function gateOf(alone: boolean, salt: string): Gate {
  const inputs = plainPayload({ salt, gate: { alone } });
  return {
    bundle: GATE_BUNDLE,
    bundle_version: 1,
    bundle_digest: Buffer.from(sha256Hex(GATE_BODY), 'hex'),
    verdict: 'admitted',
    inputs_sha256: inputs.sha256,
    inputs,
  };
}
