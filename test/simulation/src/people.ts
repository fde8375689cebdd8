// People at a screen: they read rows of the databases, as an interface would show them, and act, rightly or not.
import { plainPayload } from '@recourse/contract';
import { deriveId } from '@recourse/kernel';
import { INITIATORS, person, TENANTS } from './stories.js';
import { keyOn, Outside } from './outside.js';
import type { Random } from './random.js';
import { rowsOf } from './rows.js';
import { saidWith, STEP_VERBS } from './step-verbs.js';
import type { ServiceName, World } from './world.js';
import { PARTITIONS } from './world.js';

/** What a screen shows of a step. */
interface ShownStep {
  readonly step_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly phase: string;
  readonly reason: string;
  readonly action_digest: Buffer | null;
  readonly answerable_to: string | null;
  readonly approvals: readonly { readonly by: string }[];
  readonly execution: {
    readonly agent_id: string;
    readonly initiator: string | null;
    readonly external_transaction_ref: string | null;
  };
  readonly legs: readonly { readonly answer_by: number }[];
}
interface ShownEscalation {
  readonly escalation_id: string;
  readonly tenant: string;
  readonly phase: string;
  readonly requested_by: string | null;
}
interface ShownRollback {
  readonly rollback_id: string;
  readonly mutation_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly phase: string;
  readonly judged: unknown;
}
interface ShownBreaker {
  readonly breaker_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly phase: string;
}
interface ShownTask {
  readonly task_id: string;
  readonly tenant: string;
  readonly run_id: string;
  readonly phase: string;
}
interface ShownParked {
  readonly parked_id: string;
  readonly topic: string;
  readonly partition: number;
  readonly open: boolean;
  readonly parked_seq?: number;
}

const APPROVERS = ['olga', 'omar', 'petra'] as const;
/** For what all of them had to do with. */
const LAST_APPROVER = 'quinn';
const COMMANDS = 'recourse.recovery-commands';
const FALL_COMMANDS = 'recourse.ledger-commands';

/** Logs in which records stand parked, and where people ask for them. */
const PARKING: readonly { readonly service: ServiceName; readonly log: string; readonly commands: string }[] = [
  { service: 'mutation-ledger', log: 'recourse.mutations', commands: 'recourse.ledger-commands' },
  { service: 'mutation-ledger', log: 'recourse.assumptions', commands: 'recourse.ledger-commands' },
  { service: 'recovery-orchestrator', log: 'recourse.recoveries', commands: COMMANDS },
  { service: 'budget-accountant', log: 'recourse.budgets', commands: 'recourse.budget-commands' },
];

export class People {
  readonly outside: Outside;
  #random: Random;
  #approved: { readonly step: ShownStep; readonly by: string }[] = [];
  #handled = new Set<string>();

  constructor(private readonly world: World) {
    this.#random = world.random.fork();
    this.outside = new Outside(world, 'edge');
  }

  /** Somebody looks at a list and does something. */
  act(): void {
    if (this.world.options.profile.isCareful && this.#random.chance(0.35)) {
      void this.#onHeld();
      return;
    }
    const what = this.#random.weighted({
      step: 80,
      escalation: 10,
      manual: 10,
      task: 6,
      parked: 2,
      beyond: 4,
    } as const);
    void {
      task: () => this.#onTask(),
      step: () => this.#onStep(),
      escalation: () => this.#onEscalation(),
      manual: () => {
        this.#onManual();
      },
      parked: () => this.#onParked(),
      beyond: () => this.#onBeyond(),
    }[what]();
  }

  /** What is held is judged, mostly rightly and by whom it is for; what a burst opened is closed. */
  async #onHeld(): Promise<void> {
    const random = this.#random;
    const partition = random.below(PARTITIONS);
    const breakers = this.#rows<ShownBreaker>('mutation-ledger', 'recourse.mutations', partition, 'breaker').filter(
      ({ phase }) => phase === 'open',
    );
    if (breakers.length > 0 && random.chance(0.5)) {
      const { breaker_id, tenant, run_id } = random.pick(breakers);
      await this.outside.command(
        FALL_COMMANDS,
        'CloseBreaker',
        run_id,
        person(tenant, random.chance(0.9) ? 'petra' : 'agent:a1', 'operator'),
        { run_id, breaker_id, reason: 'it is over' },
      );
      return;
    }
    const rollbacks = this.#rows<ShownRollback>('mutation-ledger', 'recourse.mutations', partition, 'rollback').filter(
      ({ phase, judged }) => phase === 'held' || (judged === null && random.chance(0.02)),
    );
    if (rollbacks.length === 0) return;
    const { rollback_id, mutation_id, tenant, run_id } = random.pick(rollbacks);
    const type = random.chance(0.8) ? 'ConfirmTrigger' : 'RejectTrigger';
    const caller = random.chance(0.9)
      ? person(tenant, random.pick(APPROVERS), 'approver')
      : person(tenant, 'agent:a1', 'approver');
    await this.outside.command(FALL_COMMANDS, type, run_id, caller, {
      run_id,
      rollback_id,
      mutation_id,
      reason: 'looked at it',
    });
  }

  async #onStep(): Promise<void> {
    const random = this.#random;
    const waiting = this.#steps().filter(({ phase }) => phase === 'awaiting_approval');
    if (waiting.length === 0) {
      await this.#approveAgain();
      return;
    }
    const step = random.pick(waiting);
    switch (random.weighted({ rightly: 78, self: 5, digest: 5, again: 4, tenant: 2, role: 2, deny: 4 } as const)) {
      case 'rightly':
        await this.#approve(step, this.#rightPerson(step));
        return;
      case 'self':
        await this.#approve(step, step.execution.initiator ?? step.answerable_to ?? step.execution.agent_id);
        return;
      case 'digest':
        await this.#approve(step, this.#rightPerson(step), { digest: Buffer.alloc(32, random.below(256)) });
        return;
      case 'again':
        await this.#approveAgain();
        return;
      case 'tenant':
        await this.#approve(step, this.#rightPerson(step), {
          tenant: TENANTS.find((tenant) => tenant !== step.tenant) ?? 'beta',
        });
        return;
      case 'role':
        await this.#approve(step, 'mallory', { roles: ['reader'] });
        return;
      case 'deny':
        await this.#decide('DenyStep', step, this.#rightPerson(step), {});
        return;
    }
  }

  async #approveAgain(): Promise<void> {
    if (this.#approved.length === 0) return;
    const { step, by } = this.#random.pick(this.#approved);
    await this.#approve(step, by);
  }

  async #approve(step: ShownStep, by: string, more: Partial<Wrong> = {}): Promise<void> {
    this.#approved.push({ step, by });
    await this.#decide('ApproveStep', step, by, more);
  }

  async #decide(
    type: 'ApproveStep' | 'DenyStep',
    step: ShownStep,
    by: string,
    { digest, tenant, roles }: Partial<Wrong>,
  ): Promise<void> {
    const caller = person(tenant ?? step.tenant, by, ...(roles ?? ['approver']));
    const body = {
      run_id: step.run_id,
      step_id: step.step_id,
      action_digest: digest ?? step.action_digest ?? Buffer.alloc(32),
      reason: 'looked at it',
    };
    const id = await this.outside.command(COMMANDS, type, step.run_id, caller, body);
    // An edge that heard nothing asks again under the same id.
    if (this.#random.chance(0.1)) await this.outside.command(COMMANDS, type, step.run_id, caller, body, id);
  }

  #rightPerson(step: ShownStep): string {
    const taken = new Set([
      step.execution.agent_id,
      step.execution.initiator,
      step.answerable_to,
      ...step.approvals.map(({ by }) => by),
    ]);
    const free = APPROVERS.filter((one) => !taken.has(one));
    return free.length === 0 ? LAST_APPROVER : this.#random.pick(free);
  }

  /** An item that was given to a person, and that no worker can hold any more, is undone by hand. */
  #onManual(): void {
    const now = this.world.databaseNow();
    const mine = this.#steps().filter(
      ({ phase, step_id, legs }) =>
        phase === 'manual' && !this.#handled.has(step_id) && legs.every(({ answer_by }) => answer_by <= now),
    );
    if (mine.length === 0) return;
    const step = this.#random.pick(mine);
    if (this.#random.chance(0.3)) {
      void this.#again(step);
      return;
    }
    this.#handled.add(step.step_id);
    const transaction = this.world.provider.transactions.get(step.execution.external_transaction_ref ?? '');
    const isUndone = transaction?.status === 'issued' && step.reason !== 'RESOURCE_CHANGED';
    if (isUndone) this.world.provider.undoByHand(transaction);
    void this.#resolve(step, isUndone ? 'repaired' : 'accepted');
  }

  /** Before a person undoes it by hand, they may have it tried again, looked at, given up, or made an incident of. */
  async #again(step: ShownStep): Promise<void> {
    const random = this.#random;
    const type = random.weighted(STEP_VERBS);
    const said = saidWith(type, random.next());
    const caller = random.chance(0.9)
      ? person(step.tenant, this.#rightPerson(step), 'approver')
      : person(step.tenant, 'mallory', 'reader');
    await this.outside.command(COMMANDS, type, step.run_id, caller, {
      run_id: step.run_id,
      step_id: step.step_id,
      ...said,
    });
  }

  async #resolve(step: ShownStep, resolution: string): Promise<void> {
    const by = this.#random.chance(0.9)
      ? this.#rightPerson(step)
      : (step.execution.initiator ?? step.execution.agent_id);
    const body = {
      run_id: step.run_id,
      step_id: step.step_id,
      resolution,
      evidence: plainPayload({ seen: resolution }),
      reason: 'looked at it',
    };
    await this.outside.command(COMMANDS, 'ResolveStep', step.run_id, person(step.tenant, by, 'approver'), body);
  }

  /** Work that follows what nothing undoes: mostly ended by whose it is, in words that say enough. */
  async #onTask(): Promise<void> {
    const random = this.#random;
    const open = this.#rows<ShownTask>(
      'recovery-orchestrator',
      'recourse.recoveries',
      random.below(PARTITIONS),
      'task',
    ).filter(({ phase }) => phase === 'open');
    if (open.length === 0) return;
    const { task_id, tenant, run_id } = random.pick(open);
    const caller = random.chance(0.9)
      ? person(tenant, 'petra', 'approver', 'requester', 'auditor')
      : person(tenant, 'agent:a1', 'approver');
    const said = {
      message: 'we were wrong',
      ...(random.chance(0.8) ? { safe_state: 'stopped', user_visible_outcome: 'a second message' } : {}),
    };
    const body = {
      run_id,
      task_id,
      outcome: random.chance(0.8) ? 'done' : 'dropped',
      content: plainPayload(said),
      correction_ref: null,
      reason: 'looked at it',
    };
    await this.outside.command(COMMANDS, 'CloseTask', run_id, caller, body);
  }

  /** What a fall reaches beyond its bound is looked at by a person, mostly: it stands, or it falls on that person's word. */
  async #onBeyond(): Promise<void> {
    const random = this.#random;
    const beyond = this.#rows<ShownRollback>(
      'mutation-ledger',
      'recourse.mutations',
      random.below(PARTITIONS),
      'rollback',
    ).filter(({ phase }) => phase === 'beyond' || (phase === 'reviewed' && random.chance(0.1)));
    if (beyond.length === 0) return;
    const { mutation_id, tenant, run_id } = random.pick(beyond);
    const caller = random.chance(0.9)
      ? person(tenant, random.pick(APPROVERS), 'approver')
      : person(tenant, 'agent:a1', 'approver');
    await this.outside.command(FALL_COMMANDS, 'ReviewOutOfBand', run_id, caller, {
      run_id,
      mutation_id,
      verdict: random.chance(0.7) ? 'stands' : 'rolled_back',
      reason: 'looked at it',
    });
  }

  async #onEscalation(): Promise<void> {
    const found: ShownEscalation[] = [];
    for (let partition = 0; partition < PARTITIONS; partition += 1)
      found.push(...this.#rows<ShownEscalation>('budget-accountant', 'recourse.budgets', partition, 'escalation'));
    const open = found.filter(({ phase }) => phase === 'open');
    if (open.length === 0) return;
    const { escalation_id, tenant, requested_by } = this.#random.pick(open);
    const by = this.#random.chance(0.9) ? 'petra' : (requested_by ?? INITIATORS[0]);
    await this.outside.command('recourse.budget-commands', 'DecideEscalation', tenant, person(tenant, by, 'approver'), {
      escalation_id,
      approved: this.#random.chance(0.5),
      reason: 'so be it',
    });
  }

  async #onParked(): Promise<void> {
    const { service, log, commands } = this.#random.pick(PARKING);
    const partition = this.#random.below(log === 'recourse.contracts' ? 1 : PARTITIONS);
    const parked = this.#rows<ShownParked>(service, log, partition, 'parked').filter(({ open }) => open);
    if (parked.length === 0) return;
    const { parked_id } = this.#random.pick(parked);
    const type = this.#random.chance(0.5) ? 'RedriveParked' : 'DiscardParked';
    await this.outside.command(
      commands,
      type,
      keyOn(partition, deriveId('park', parked_id)),
      person('acme', 'ada', 'administrator'),
      { log, parked_id, reason: 'looked at it' },
    );
  }

  #steps(): readonly ShownStep[] {
    const partition = this.#random.below(PARTITIONS);
    return this.#rows<ShownStep>('recovery-orchestrator', 'recourse.recoveries', partition, 'step');
  }

  #rows<Shown>(service: ServiceName, log: string, partition: number, kind: string): readonly Shown[] {
    return rowsOf<Shown>(this.world, service, log, partition, kind);
  }
}

interface Wrong {
  readonly digest: Buffer;
  readonly tenant: string;
  readonly roles: readonly string[];
}
