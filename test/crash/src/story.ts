// One drifted refund, driven from outside; whatever dies meanwhile, its people ask again.
import { REFUND_CAP_MINOR, CURRENCY } from './terms.js';
import { deriveId } from '@recourse/kernel';
import { BUDGET_OWNER, INITIATOR, listOf, OPERATOR, pause } from './edge.js';
import type { Edge } from './edge.js';
import type { Point } from './targets.js';
import { AT_REST } from './watch.js';
import type { Sighting } from './watch.js';

/** Longest from any step to the next: a lease, a retry and the return of a broker fit in. */
const STEP_PATIENCE_MS = 90_000;
const POLL_MS = 60;

export interface Ending {
  readonly recoverability: string;
  /** When the record of the outcome was sent; 0 while it was not seen. */
  readonly at: number;
}

/** A moment that has come or will. */
interface Moment {
  readonly came: Promise<number>;
  readonly come: (at: number) => void;
}

/** The agent's guard refused, as it must while a part it needs is dead: nothing was done, and there is nothing to recover. */
export class RefundRefused extends Error {}

export class Story {
  readonly runId: string;
  refundId = '';
  mutationId = '';
  private asked: { readonly stepId: string; readonly digest: string } | null = null;
  private readonly seen = new Set<Point | 'outcome'>();
  private readonly moments = new Map<Point | 'outcome', Moment>();

  constructor(
    private readonly edge: Edge,
    readonly order: string,
  ) {
    this.runId = deriveId('run', this.key);
  }

  /** When the moment came, epoch milliseconds; waits for it. */
  when(point: Point | 'outcome'): Promise<number> {
    return this.moment(point).came;
  }

  see({ point, at }: Pick<Sighting, 'point' | 'at'>): void {
    this.seen.add(point);
    this.moment(point).come(at);
  }

  /** Opens the order, the budget and the refund, up to the acknowledgement of its execution. Errors: RefundRefused; when the agent did not refund otherwise. */
  async refund(): Promise<void> {
    await this.edge.post('warehouse', '/orders', { order: this.order });
    const budget = { scope: 'run', scope_id: this.runId, currency: CURRENCY, ceiling_minor: REFUND_CAP_MINOR };
    await this.edge.command({
      side: 'budget',
      path: '/v1/budgets',
      body: budget,
      person: BUDGET_OWNER,
      key: `budget-${this.runId}`,
    });
    const { body } = await this.edge.post(
      'agent',
      '/runs',
      { order: this.order, amount_minor: REFUND_CAP_MINOR, currency: CURRENCY, initiator: INITIATOR.subject },
      this.key,
    );
    const [mutationId] = Array.isArray(body['mutation_ids']) ? body['mutation_ids'] : [];
    if (body['status'] === 'refused') throw new RefundRefused(JSON.stringify(body['problems']));
    if (body['status'] !== 'succeeded' || typeof mutationId !== 'string')
      throw new Error(`the agent did not refund order ${this.order}: ${JSON.stringify(body)}`);
    this.mutationId = mutationId;
    this.see({ point: 'execution published', at: Date.now() });
  }

  /** Finds the effect of a try whose answer was lost, where the repeat was refused. Errors: when the ledger never knows it. */
  async find(): Promise<void> {
    const item = await this.until('has an effect that no ledger knows', async () => {
      const { body } = await this.edge.get('ledger', `/v1/mutations?run_id=${this.runId}`, OPERATOR);
      return listOf(body['items']).find(({ execution_state }) => execution_state === 'succeeded') ?? null;
    });
    this.mutationId = String(item['mutation_id']);
  }

  /** Ships, approves, and waits until the ledger is at rest. */
  async drift(): Promise<Ending> {
    await this.untilAsked();
    await this.agree();
    return this.end();
  }

  /** Ships, and waits until somebody is asked to approve. */
  async untilAsked(): Promise<void> {
    await this.edge.post('warehouse', `/orders/${this.order}/ship`, {});
    this.see({ point: 'invalidation published', at: Date.now() });
    this.asked = await this.review();
  }

  /** Approves what was asked. */
  async agree(): Promise<void> {
    if (this.asked === null) throw new Error(`nobody was asked about ${this.runId}`);
    this.see({ point: 'approval posted', at: Date.now() });
    await this.approve(this.asked.stepId, this.asked.digest);
  }

  /** Waits until the ledger is at rest. */
  async end(): Promise<Ending> {
    const recoverability = await this.rest();
    const at = await Promise.race([this.when('outcome'), pause(10_000).then(() => 0)]);
    return { recoverability, at };
  }

  /** Has the moment come? */
  hasSeen(point: Point | 'outcome'): boolean {
    return this.seen.has(point);
  }

  /** A step that was shown may be missing for a moment: a database that was killed forgets what it had not written, and is filled again from the log. */
  private async approve(stepId: string, digest: string): Promise<void> {
    await this.until('cannot be approved', async () => {
      const answer = await this.edge.command({
        side: 'orchestrator',
        path: `/v1/steps/${stepId}/approve`,
        body: { action_digest: digest, reason: 'the goods are on their way' },
        person: OPERATOR,
        key: `approve-${stepId}`,
      });
      if (answer.status < 300) return answer;
      if (answer.status === 404) return null;
      throw new Error(`the approval of ${this.runId} was answered ${String(answer.status)} ${answer.text}`);
    });
  }

  private get key(): string {
    return `crash-${this.order}`;
  }

  private async review(): Promise<{ readonly stepId: string; readonly digest: string }> {
    const item = await this.until('has no review item', async () => {
      const { body } = await this.edge.get(
        'orchestrator',
        `/v1/reviews?state=awaiting_approval&run_id=${this.runId}`,
        OPERATOR,
      );
      return listOf(body['items'])[0] ?? null;
    });
    return { stepId: String(item['step_id']), digest: String(item['action_digest']) };
  }

  private async rest(): Promise<string> {
    const mutation = await this.until('does not come to rest', async () => {
      const { body } = await this.edge.get('ledger', `/v1/mutations/${this.mutationId}`, OPERATOR);
      return AT_REST.includes(String(body['recoverability'])) ? body : null;
    });
    return String(mutation['recoverability']);
  }

  private async until<T>(complaint: string, look: () => Promise<T | null>): Promise<T> {
    const deadlineAt = Date.now() + STEP_PATIENCE_MS;
    while (Date.now() < deadlineAt) {
      const found = await look();
      if (found !== null) return found;
      await pause(POLL_MS);
    }
    throw new Error(
      `run ${this.runId} ${complaint} within ${String(STEP_PATIENCE_MS / 1_000)} s: ${await this.standing()}`,
    );
  }

  /** Where ledger and orchestrator see the run, for a person who has to find out why. */
  private async standing(): Promise<string> {
    const { body: mutation } = await this.edge.get('ledger', `/v1/mutations/${this.mutationId}`, OPERATOR);
    const { body: steps } = await this.edge.get('orchestrator', `/v1/steps?run_id=${this.runId}`, OPERATOR);
    const shown = listOf(steps['items']).map(({ phase, reason, attempt, last }) => ({ phase, reason, attempt, last }));
    return `mutation ${String(mutation['execution_state'])}, ${String(mutation['recoverability'])}, rollback ${String(mutation['rollback_id'])}; steps ${JSON.stringify(shown)}`;
  }

  private moment(point: Point | 'outcome'): Moment {
    const known = this.moments.get(point);
    if (known !== undefined) return known;
    const { promise, resolve } = Promise.withResolvers<number>();
    const made: Moment = { came: promise, come: resolve };
    this.moments.set(point, made);
    return made;
  }
}
