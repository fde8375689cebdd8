// What agents, monitors and critics do: random stories over a few runs and refs.
import { plainPayload } from '@recourse/contract';
import { mutationId } from '@recourse/sdk';
import type { Json } from '@recourse/kernel';
import type { CommitRef, ToolExecuted } from '@recourse/messages';
import { CommitStories } from './commit-stories.js';
import { Forgeries } from './forgeries.js';
import { CAPABILITY_OF, contractsOf, EFFECT_KINDS, HOLD_MS, LEAD } from './contracts.js';
import type { EffectKind, RegisteredContract } from './contracts.js';
import { Outside } from './outside.js';
import type { Caller } from './outside.js';
import type { Random } from './random.js';
import { madeAgain } from './retries.js';
import { Sagas } from './sagas.js';
import type { World } from './world.js';
import { PARTITIONS } from './world.js';

export const TENANTS = ['acme', 'beta'] as const;
export const INITIATORS = ['ines', 'ivan'] as const;
const AGENTS = ['agent:a1', 'agent:a2'] as const;
const RUNS_PER_TENANT = 6;
export const REFS_PER_TENANT = 6;

const EXECUTIONS = 'recourse.tool-executions';
const ASSUMPTIONS = 'recourse.assumption-events';

export type StoryKind =
  | 'execute'
  | 'execute_again'
  | 'execute_otherwise'
  | 'execute_late'
  | 'retry'
  | 'declare'
  | 'invalidate'
  | 'reaffirm'
  | 'state_again'
  | 'state_otherwise'
  | 'state_old'
  | 'hold'
  | 'undo'
  | 'pair'
  | 'saga'
  | 'trigger'
  | 'trigger_early'
  | 'reserve'
  | 'release'
  | 'open_budget'
  | 'register_again'
  | 'change_resource'
  | 'garbage'
  | 'foreign_partition'
  | 'person'
  | 'flip'
  | 'commit'
  | 'commit_again'
  | 'trigger_commit'
  | 'forge_ack'
  | 'answer_again'
  | 'resubscribe';
export type StoryWeights = Readonly<Record<StoryKind, number>>;

export const STORIES: StoryWeights = {
  execute: 30,
  execute_again: 3,
  execute_otherwise: 2,
  execute_late: 2,
  // Where a bias asks for it: any weight makes another world of each seed that a spec names.
  retry: 0,
  declare: 6,
  invalidate: 9,
  reaffirm: 5,
  state_again: 1,
  state_otherwise: 1,
  state_old: 1,
  hold: 4,
  undo: 2,
  pair: 4,
  saga: 4,
  trigger: 4,
  trigger_early: 1,
  reserve: 8,
  release: 1,
  open_budget: 2,
  register_again: 1,
  change_resource: 2,
  garbage: 1,
  foreign_partition: 1,
  person: 26,
  flip: 3,
  commit: 16,
  commit_again: 1,
  trigger_commit: 3,
  forge_ack: 2,
  answer_again: 2,
  resubscribe: 2,
};

/** What did not happen has no result and no handle. */
const FAILED = { outcome: 'failed', result: null, external_transaction_ref: null } as const;

interface Told {
  readonly body: ToolExecuted;
  readonly kind: EffectKind;
  readonly transaction: string;
}
interface Statement {
  readonly type: string;
  readonly key: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export class Stories {
  readonly outside: Outside;
  readonly contracts: readonly RegisteredContract[];
  readonly #commits: CommitStories;
  readonly #forgeries: Forgeries;
  readonly #sagas: Sagas;
  #random: Random;
  #executed: Told[] = [];
  #stated: Statement[] = [];
  #count = 0;
  readonly #asked = new Map<string, number>();

  constructor(
    private readonly world: World,
    private readonly ask: { readonly people: () => void; readonly subscribers: () => void },
  ) {
    this.#random = world.random.fork();
    this.outside = new Outside(world, 'producer');
    this.contracts = contractsOf(world.options.profile.terms);
    this.#commits = new CommitStories(world, this.outside, this.#random.fork(), {
      tenants: TENANTS,
      tenant: () => this.#tenant(),
      run: (tenant) => this.#run(tenant),
      ref: (tenant) => this.#ref(tenant),
      id: (prefix) => this.#id(prefix),
      effect: (tenant) => this.#effectOf(tenant),
      person,
    });
    this.#forgeries = new Forgeries(world, this.outside, this.#random.fork());
    this.#sagas = new Sagas(world, this.#random.fork(), {
      tenant: () => this.#tenant(),
      ref: (tenant) => this.#ref(tenant),
      id: (prefix) => this.#id(prefix),
      make: ({ tenant, run, kind, refs, isFailure }) =>
        this.#made(
          this.#transaction(tenant, run, kind, refs, isFailure ? { ...FAILED, on_failure: 'compensate' } : {}),
        ),
      undo: (tenant, run_id) => {
        this.#undoOf({ tenant, run_id }, []);
      },
      invalidate: (tenant, ref) => {
        this.#state('AssumptionInvalidated', 0, { tenant, ref });
      },
    });
  }

  /** Contracts and tenants' budgets, before anything else happens. */
  begin(): void {
    void (async () => {
      for (const contract of this.contracts) {
        await this.outside.command(
          'recourse.registry-commands',
          'RegisterContract',
          contract.name,
          person('*', 'rosa', 'platform_editor'),
          { name: contract.name, body: contract.body, together: [] },
        );
      }
    })();
    for (const tenant of TENANTS) void this.#openBudget(tenant, 'tenant', tenant, 400);
    this.#commits.begin();
  }

  /** Tells one event of a kind. */
  tell(kind: StoryKind): void {
    this.#do[kind]();
  }

  readonly #do: Readonly<Record<StoryKind, () => void>> = {
    execute: () => {
      void this.#execute(0);
    },
    execute_late: () => {
      void this.#execute(this.#random.between(500, 12_000));
    },
    retry: () => {
      void this.#retry();
    },
    execute_again: () => {
      this.#again((told) => told.body);
    },
    execute_otherwise: () => {
      this.outside.told += 1;
      this.#again((told) => ({
        ...told.body,
        event_id: this.#id('other'),
        args: plainPayload({ order_id: this.#id('order'), amount_minor: 1, currency: 'EUR' }),
      }));
    },
    declare: () => {
      this.#state('AssumptionDeclared');
    },
    invalidate: () => {
      this.#state('AssumptionInvalidated');
    },
    reaffirm: () => {
      this.#state('AssumptionReaffirmed');
    },
    state_old: () => {
      this.#state(this.#random.chance(0.5) ? 'AssumptionInvalidated' : 'AssumptionReaffirmed', 4_000);
    },
    flip: () => {
      this.#flip();
    },
    state_again: () => {
      this.#stateAgain((body) => body);
    },
    state_otherwise: () => {
      this.outside.told += 1;
      this.#stateAgain((body) => ({ ...body, statement: plainPayload({ changed: (this.#count += 1) }) }));
    },
    hold: () => {
      void this.#hold();
    },
    trigger: () => {
      const told = this.#someExecuted();
      if (told !== null) this.#trigger(told.body);
    },
    undo: () => {
      this.#undo();
    },
    pair: () => {
      void this.#pair();
    },
    saga: () => {
      void this.#sagas.tell();
    },
    trigger_early: () => {
      void this.#execute(0, true);
      this.#triggerUnknown();
    },
    reserve: () => {
      this.#reserve(this.#random.chance(0.5) ? (this.#someExecuted()?.body ?? null) : null);
    },
    release: () => {
      const told = this.#someExecuted();
      if (told === null) return;
      const { tenant, run_id, effect_key } = told.body;
      void this.outside.command(
        'recourse.budget-commands',
        'ReleaseReservation',
        tenant,
        person(tenant, 'agent:a1', 'agent'),
        { run_id, effect_key },
      );
    },
    open_budget: () => {
      const tenant = this.#tenant();
      void this.#openBudget(tenant, 'run', this.#run(tenant), 60);
    },
    register_again: () => {
      const contract = this.#random.pick(this.contracts);
      const caller = this.#random.chance(0.5)
        ? person('*', 'rosa', 'platform_editor')
        : person('acme', 'mallory', 'reader');
      void this.outside.command('recourse.registry-commands', 'RegisterContract', contract.name, caller, {
        name: contract.name,
        body: contract.body,
        together: [],
      });
    },
    change_resource: () => {
      const issued = [...this.world.provider.transactions.values()]
        .filter(({ status }) => status === 'issued')
        .slice(-12);
      if (issued.length > 0) this.world.provider.change(this.#random.pick(issued));
    },
    garbage: () => {
      const topic = this.#random.pick([
        EXECUTIONS,
        ASSUMPTIONS,
        'recourse.recovery-commands',
        'recourse.ledger-commands',
        'recourse.budget-commands',
      ]);
      this.outside.told += 1;
      void this.outside.sendBytes(
        topic,
        this.#id('garbage'),
        Buffer.from(this.#random.chance(0.5) ? 'no frame' : [0, 0, 0, 9, 9, 1]),
      );
    },
    foreign_partition: () => {
      const key = this.#id('foreign');
      const body = this.#executionOf(this.#tenant(), key, 'refund', this.#id('tx'), []);
      this.outside.told += 1;
      for (let partition = 0; partition < PARTITIONS; partition += 1)
        void this.outside.sendTo(
          EXECUTIONS,
          partition,
          key,
          this.world.codecs.encode(EXECUTIONS, 'ToolExecuted', body),
        );
    },
    person: () => {
      this.ask.people();
    },
    commit: () => {
      void this.#commits.commit();
    },
    commit_again: () => {
      void this.#commits.again();
    },
    trigger_commit: () => {
      this.#commits.trigger();
    },
    forge_ack: () => {
      this.#forgeries.forge();
    },
    answer_again: () => {
      this.#forgeries.again();
    },
    resubscribe: () => {
      this.ask.subscribers();
    },
  };

  async #execute(delayMs: number, isTriggeredFirst = false): Promise<void> {
    const { world } = this;
    const random = this.#random;
    const tenant = this.#tenant();
    const kind = random.pick(EFFECT_KINDS);
    const refs = random.chance(0.8) ? [this.#ref(tenant), ...(random.chance(0.3) ? [this.#ref(tenant)] : [])] : [];
    const transaction = this.#id('tx');
    const body = this.#executionOf(tenant, this.#run(tenant), kind, transaction, [...new Set(refs)]);
    if (random.chance(0.3)) this.#reserve(body);
    if (random.chance(0.25)) {
      this.outside.told += 1;
      await this.#plan(body);
    }
    if (isTriggeredFirst) this.#trigger(body);
    if (body.outcome !== 'failed')
      world.provider.issue(transaction, kind, JSON.parse(body.args.body.toString()).amount_minor as number);
    if (delayMs > 0) await world.scheduler.sleep(world.actor('producer'), delayMs);
    this.#executed.push({ body, kind, transaction });
    this.outside.told += 1;
    await this.outside.send(EXECUTIONS, 'ToolExecuted', body.run_id, body);
    if (body.outcome !== 'uncertain' || !random.chance(0.6)) return;
    await world.scheduler.sleep(world.actor('producer'), random.between(100, 3_000));
    this.outside.told += 1;
    await this.outside.send(EXECUTIONS, 'ToolExecuted', body.run_id, {
      ...body,
      event_id: this.#id('resolved'),
      outcome: 'succeeded',
    });
  }

  async #retry(): Promise<void> {
    const tenant = this.#tenant();
    const told = this.#transaction(tenant, this.#run(tenant), 'refund', [], { on_failure: 'keep' });
    await madeAgain(this.world, this.outside, told);
    this.#executed.push(told);
  }

  /** An effect and one that is linked to it, in either order, mostly taken back: the second needs the receipt of the first. */
  async #pair(): Promise<void> {
    const { world } = this;
    const random = this.#random;
    const tenant = this.#tenant();
    const run = this.#id(`${tenant}-pair`);
    const refs = random.chance(0.4) ? [this.#ref(tenant)] : [];
    const subject_ref = `pair/${run}`;
    const lead = this.#transaction(tenant, run, 'lead', refs, { effect_key: LEAD, subject_ref });
    const linked = this.#transaction(tenant, run, 'linked', refs, { subject_ref });
    for (const one of random.chance(0.5) ? [lead, linked] : [linked, lead]) await this.#made(one);
    if (random.chance(0.2)) return;
    await world.scheduler.sleep(world.actor('producer'), random.between(50, 2_000));
    if (random.chance(0.5)) {
      this.#undoOf(lead.body, []);
      return;
    }
    this.#trigger(lead.body);
    await world.scheduler.sleep(world.actor('producer'), random.between(0, 3_000));
    this.#trigger(linked.body);
  }

  #transaction(
    tenant: string,
    run: string,
    kind: EffectKind,
    refs: readonly string[],
    more: Partial<ToolExecuted>,
  ): Told {
    const transaction = this.#id('tx');
    return {
      body: { ...this.#executionOf(tenant, run, kind, transaction, refs), derived_from: [], ...more },
      kind,
      transaction,
    };
  }

  async #made(told: Told): Promise<void> {
    const { body, kind, transaction } = told;
    if (body.outcome !== 'failed')
      this.world.provider.issue(transaction, kind, JSON.parse(body.args.body.toString()).amount_minor as number);
    this.#executed.push(told);
    this.outside.told += 1;
    await this.outside.send(EXECUTIONS, 'ToolExecuted', body.run_id, body);
  }

  /** Leaves an effect to the ledger, and sometimes thinks better of it: while it is held, or about when it goes. */
  async #hold(): Promise<void> {
    const { world } = this;
    const random = this.#random;
    const tenant = this.#tenant();
    const transaction = this.#id('tx');
    const body = this.#executionOf(tenant, this.#run(tenant), 'transfer', transaction, [this.#ref(tenant)]);
    const contract = this.contracts.find(({ name }) => name === CAPABILITY_OF.transfer);
    this.outside.told += 1;
    await this.#plan({ ...body, contract_digest: contract?.digest ?? null }, true);
    if (!random.chance(0.5)) return;
    await world.scheduler.sleep(
      world.actor('producer'),
      random.pick([random.below(HOLD_MS), random.between(HOLD_MS - 200, HOLD_MS + 400)]),
    );
    if (random.chance(0.3)) {
      this.#trigger(body);
      return;
    }
    const caller = random.chance(0.9) ? person(tenant, 'omar', 'operator') : person(tenant, 'mallory', 'reader');
    void this.outside.command('recourse.ledger-commands', 'CancelMutation', body.run_id, caller, {
      run_id: body.run_id,
      mutation_id: mutationId(tenant, body.run_id, body.effect_key),
      reason: 'thought better of it',
    });
  }

  async #plan(executed: ToolExecuted, isHeld = false): Promise<void> {
    const {
      outcome: _outcome,
      result: _result,
      prior_value: _prior,
      external_transaction_ref: _ref,
      error_kind: _error,
      handled_as: _handled,
      committed_at,
      ...planned
    } = executed;
    await this.outside.send(EXECUTIONS, 'ToolPlanned', executed.run_id, {
      ...planned,
      event_id: `${executed.event_id}-plan`,
      planned_at: committed_at,
      is_held: isHeld,
      prior_value: null,
      rehearsal: null,
      staged_ref: null,
    });
  }

  #executionOf(
    tenant: string,
    runId: string,
    kind: EffectKind,
    transaction: string,
    refs: readonly string[],
  ): ToolExecuted {
    const random = this.#random;
    const args: Json = { order_id: `order-${transaction}`, amount_minor: random.between(100, 900), currency: 'EUR' };
    const contract = this.contracts.find(({ name }) => name === CAPABILITY_OF[kind]);
    const outcome = random.weighted({ succeeded: 90, uncertain: 6, failed: 4 } as const);
    return {
      event_id: this.#id('evt'),
      tenant,
      run_id: runId,
      agent_id: random.pick(AGENTS),
      initiator: random.chance(0.8) ? random.pick(INITIATORS) : null,
      objective: 'serve the customer',
      step_id: 's',
      call_id: `call-${transaction}`,
      capability: CAPABILITY_OF[kind],
      contract_digest: random.chance(0.96) ? (contract?.digest ?? null) : null,
      effect_key: `eff-${transaction}`,
      idempotency_key: `key-${transaction}`,
      subject_ref: null,
      args: plainPayload(args),
      assumption_refs: refs,
      outcome,
      result: outcome === 'succeeded' ? plainPayload({ refund_id: transaction }) : null,
      prior_value: null,
      external_transaction_ref: outcome === 'failed' ? null : transaction,
      error_kind: null,
      committed_at: this.world.databaseNow() - random.below(400),
      derived_from: this.#parentsIn(tenant, runId),
      on_failure: random.chance(0.3) ? 'compensate' : 'keep',
      handled_as: null,
      produced_by: null,
      release: null,
    };
  }

  /** Sometimes an effect says from which one of its run it was made, sometimes from which one of another run. */
  #parentsIn(tenant: string, runId: string): ToolExecuted['derived_from'] {
    const commit = this.#random.chance(0.12) ? this.#commits.parent(tenant) : null;
    if (commit !== null) return [commit];
    const isElsewhere = this.#random.chance(0.12);
    const earlier = this.#executed.filter(
      ({ body }) => body.tenant === tenant && (isElsewhere ? body.run_id !== runId : body.run_id === runId),
    );
    if (earlier.length === 0 || !(isElsewhere || this.#random.chance(0.15))) return [];
    const { run_id, effect_key } = this.#random.pick(earlier).body;
    return [{ run_id, commit_id: mutationId(tenant, run_id, effect_key) }];
  }

  /** A commit that was told, with an effect or without, for a consumer to make something of. */
  parent(tenant: string): CommitRef | null {
    return this.#random.chance(0.5) ? (this.#commits.parent(tenant) ?? this.#effectOf(tenant)) : this.#effectOf(tenant);
  }

  /** An effect of a tenant that was told. */
  #effectOf(tenant: string): CommitRef | null {
    const own = this.#executed.slice(-25).filter(({ body }) => body.tenant === tenant);
    if (own.length === 0) return null;
    const { run_id, effect_key } = this.#random.pick(own).body;
    return { run_id, commit_id: mutationId(tenant, run_id, effect_key) };
  }

  /** Somebody wants a run taken back, or some of what it did; now and then also what it never did. */
  #undo(): void {
    const told = this.#someExecuted();
    if (told === null) return;
    const { tenant, run_id } = told.body;
    const random = this.#random;
    const own = this.#executed
      .filter(({ body }) => body.tenant === tenant && body.run_id === run_id)
      .map(({ body }) => mutationId(tenant, run_id, body.effect_key));
    const some = [
      ...new Set([
        random.pick(own),
        random.pick(own),
        ...(random.chance(0.2) ? [mutationId(tenant, run_id, 'never')] : []),
      ]),
    ];
    this.#undoOf(told.body, random.chance(0.6) ? [] : some);
  }

  #undoOf({ tenant, run_id }: Pick<ToolExecuted, 'tenant' | 'run_id'>, mutation_ids: readonly string[]): void {
    const caller = this.#random.chance(0.9)
      ? person(tenant, 'ursula', 'requester')
      : person(tenant, 'mallory', 'reader');
    void this.outside.command('recourse.ledger-commands', 'UndoRun', run_id, caller, {
      run_id,
      mutation_ids,
      reason: 'not what was meant',
    });
  }

  #again(change: (told: Told) => ToolExecuted): void {
    const told = this.#someExecuted();
    if (told === null) return;
    const body = change(told);
    void this.outside.send(EXECUTIONS, 'ToolExecuted', body.run_id, body);
  }

  /** Names a commit that nobody ever makes. */
  #triggerUnknown(): void {
    const tenant = this.#tenant();
    this.#trigger({ tenant, run_id: this.#run(tenant), effect_key: this.#id('never') });
  }

  #trigger({ tenant, run_id, effect_key }: Pick<ToolExecuted, 'tenant' | 'run_id' | 'effect_key'>): void {
    const caller = this.#random.chance(0.9) ? person(tenant, 'rita', 'reporter') : person(tenant, 'mallory', 'reader');
    void this.outside.command('recourse.ledger-commands', 'TriggerRollback', run_id, caller, {
      run_id,
      mutation_id: mutationId(tenant, run_id, effect_key),
      reason: 'the critic says so',
    });
  }

  #reserve(about: ToolExecuted | null): void {
    const tenant = about?.tenant ?? this.#tenant();
    const kind = this.#random.pick(EFFECT_KINDS);
    const run_id = about?.run_id ?? this.#run(tenant);
    const capability = about?.capability ?? CAPABILITY_OF[kind];
    const amount_minor =
      about === null
        ? this.#random.between(50, 900)
        : this.#random.chance(0.8)
          ? (JSON.parse(about.args.body.toString()).amount_minor as number)
          : 50;
    void this.outside.command(
      'recourse.budget-commands',
      'ReserveBudget',
      tenant,
      person(tenant, 'agent:a1', 'agent'),
      {
        run_id,
        effect_key: about?.effect_key ?? this.#id('eff'),
        capability,
        objective: 'settle a complaint',
        values: [{ amount_minor, currency: 'EUR' }],
        subject_ref: about?.effect_key ?? null,
        reach: null,
        attempt: about === null ? null : this.#attemptOf(about),
      },
    );
  }

  /** Whoever asks for an effect once more does so for its next attempt. */
  #attemptOf({ tenant, run_id, effect_key }: ToolExecuted): number {
    const key = mutationId(tenant, run_id, effect_key);
    const attempt = (this.#asked.get(key) ?? 0) + 1;
    this.#asked.set(key, attempt);
    return attempt;
  }

  async #openBudget(tenant: string, scope: 'run' | 'tenant', scope_id: string, ceiling_minor: number): Promise<void> {
    await this.outside.command(
      'recourse.budget-commands',
      'OpenBudget',
      tenant,
      person(tenant, 'bruno', 'budget_owner'),
      { scope, scope_id, currency: 'EUR', measure: 'debt', window: 'life', refunds: 'net', ceiling_minor },
    );
  }

  #state(type: string, olderByMs = 0, at?: { readonly tenant: string; readonly ref: string }): void {
    const random = this.#random;
    const tenant = at?.tenant ?? this.#tenant();
    const ref = at?.ref ?? this.#ref(tenant);
    const body = {
      event_id: this.#id('evt'),
      tenant,
      ref,
      run_id: random.chance(0.15) ? this.#run(tenant) : null,
      source: random.pick(['warehouse', 'monitor']),
      statement: plainPayload({ n: (this.#count += 1) }),
      stated_at: this.world.databaseNow() - random.below(200) - olderByMs,
      ...(type === 'AssumptionInvalidated' ? { source_kind: 'observation' } : {}),
    };
    this.#stated.push({ type, key: ref, body });
    this.outside.told += 1;
    void this.outside.send(ASSUMPTIONS, type, ref, body);
  }

  /** Invalidated, reaffirmed a little later, and relied upon meanwhile: positions decide who is reached. */
  #flip(): void {
    const { world } = this;
    const tenant = this.#tenant();
    const at = { tenant, ref: this.#ref(tenant) };
    this.#state('AssumptionInvalidated', 0, at);
    world.scheduler.after(this.#random.between(50, 600), () => {
      this.#state('AssumptionReaffirmed', 0, at);
    });
    world.scheduler.after(this.#random.between(100, 900), () => {
      void this.#execute(0);
    });
  }

  #stateAgain(change: (body: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>): void {
    if (this.#stated.length === 0) return;
    const { type, key, body } = this.#random.pick(this.#stated);
    void this.outside.send(ASSUMPTIONS, type, key, change(body));
  }

  #someExecuted(): Told | null {
    return this.#executed.length === 0 ? null : this.#random.pick(this.#executed.slice(-25));
  }
  #tenant(): string {
    return this.#random.pick(TENANTS);
  }
  #run(tenant: string): string {
    return `${tenant}-run-${String(this.#random.below(RUNS_PER_TENANT))}`;
  }
  #ref(tenant: string): string {
    return refOf(tenant, this.#random.below(REFS_PER_TENANT));
  }
  #id(prefix: string): string {
    return `${prefix}-${String((this.#count += 1))}`;
  }
}

/** What agents of a tenant rely on, by its number. */
export function refOf(tenant: string, number: number): string {
  return `${tenant}/order-${String(number)}#open`;
}

export function person(tenant: string, principal: string, ...roles: readonly string[]): Caller {
  return { tenant, principal, roles };
}
