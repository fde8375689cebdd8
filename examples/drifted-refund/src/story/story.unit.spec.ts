import { describe, expect, it } from '@jest/globals';
import type { Ask, HttpAsk, HttpReply } from '../common/http.js';
import { playStory } from './story.js';
import type { StoryOptions } from './story.js';

const urls = Object.fromEntries(
  ['issuer', 'registry', 'ledger', 'orchestrator', 'budget', 'provider', 'warehouse', 'agent', 'loyalty'].map(
    (side) => [side, `http://${side}`],
  ),
) as unknown as StoryOptions['urls'];

type Facts = Readonly<Record<string, unknown>>;

/** All sides in one object, as far as the story asks them. Recourse may be `silent`: it acts without asking anybody. */
class World {
  shipped = false;
  status = 'settled';
  decided: string | null = null;
  phantom = false;
  readonly asked: string[] = [];
  private orders = new Set<string>(['4711']);
  private runId = '';

  constructor(
    private readonly temper: {
      readonly silent?: boolean;
      readonly selfApproval?: boolean;
      readonly expires?: boolean;
      /** Nobody reserved: what was done is counted afterwards. */
      readonly unreserved?: boolean;
      /** What was taken back is still owed. */
      readonly keepsDebt?: boolean;
    } = {},
  ) {}

  readonly ask: Ask = (url, how = {}) => {
    const { host, pathname } = new URL(url);
    this.asked.push(`${how.method ?? 'GET'} ${host}${pathname}`);
    return Promise.resolve(this.answer(host, pathname, how));
  };

  private answer(host: string, path: string, { method = 'GET', body = {}, headers = {} }: HttpAsk): HttpReply {
    const asked = body as Facts;
    switch (host) {
      case 'issuer':
        return ok({ access_token: String(asked['subject']) });
      case 'registry':
        return method === 'POST' ? { status: 201, body: {} } : ok({ version: 1, digest: 'ab' });
      case 'budget':
        return method === 'POST' ? { status: 201, body: {} } : ok({ items: [this.budget(path)] });
      case 'warehouse':
        return this.warehouse(path, method, asked);
      case 'agent':
        this.runId = 'run_1';
        return { status: 201, body: { run_id: 'run_1', status: 'succeeded', mutation_ids: ['mut_1'] } };
      case 'provider':
        return this.provider(path, method, asked);
      case 'ledger':
        return (
          this.lineage(path) ??
          ok({
            recoverability: this.recoverability(),
            reason: null,
            ref: {
              external_transaction_ref: 'rf_1',
              reversal_expires_at: 10_000,
              reversal_capability: 'payments.reverse_refund',
              assumption_refs: ['order/4712#not_shipped'],
              committed_at: 2_000,
            },
          })
        );
      case 'orchestrator':
        return this.orchestrator(path, method, headers);
      default:
        return this.loyalty(path);
    }
  }

  private budget(path: string): Facts {
    const isOwed = this.temper.keepsDebt === true || this.recoverability() !== 'compensated';
    if (path === '/v1/budgets')
      return { scope_id: this.runId, used_minor: isOwed ? 50_000 : 0, ceiling_minor: 500_000 };
    return {
      mutation_id: 'mut_1',
      phase: isOwed ? 'settled' : 'refunded',
      counted_at: this.temper.unreserved === true ? 3_000 : 1_000,
      debits: [{ currency: 'INR', value_minor: 500_000, debit_minor: 50_000 }],
    };
  }

  private warehouse(path: string, method: string, asked: Facts): HttpReply {
    if (method === 'POST' && path === '/orders') this.orders.add(String(asked['order']));
    if (path.endsWith('/ship')) {
      this.shipped = true;
      if (this.temper.silent === true) this.status = 'reversed';
    }
    return this.orders.has(path.split('/')[2] ?? '')
      ? ok({ status: this.shipped ? 'shipped' : 'open', carrier: 'BlueDart', shipped_at: 1 })
      : { status: 404, body: {} };
  }

  private provider(path: string, method: string, asked: Facts): HttpReply {
    if (method === 'POST' && asked['mode'] === 'phantom_undo') this.phantom = true;
    return path === '/effects'
      ? ok({ effects: this.status === 'reversed' ? [{ kind: 'reversal', refund_id: 'rf_1', key: 'rev_k' }] : [] })
      : ok({ refund_id: 'rf_1', status: this.status, amount_minor: 500_000 });
  }

  private orchestrator(path: string, method: string, headers: Readonly<Record<string, string>>): HttpReply {
    if (path === '/v1/reviews') return ok({ items: this.shipped ? [{ step_id: 'step_1', mutation_id: 'mut_1' }] : [] });
    if (path === '/v1/recoveries')
      return ok({
        items: [
          {
            run_id: 'run_1',
            phase: 'closed',
            outcome: this.recoverability() === 'compensated' ? 'compensated' : 'manual',
          },
        ],
      });
    if (method === 'GET')
      return ok({ step_id: 'step_1', action_digest: 'digest', call: { capability: 'payments.reverse_refund' } });
    if (this.temper.expires === true) return { status: 409, body: { code: 'WINDOW_CLOSED' } };
    if (headers['authorization'] === 'Bearer asha' && this.temper.selfApproval !== true)
      return { status: 403, body: { code: 'SELF_APPROVAL' } };
    this.decided = path.endsWith('/approve') ? 'approve' : 'deny';
    if (this.decided === 'approve' && !this.phantom) this.status = 'reversed';
    return ok({});
  }

  /** What loyalty made of the refund, and said of its fall. */
  private lineage(path: string): HttpReply | null {
    if (path === '/v1/deliveries')
      return ok({ items: this.shipped ? [{ mutation_id: 'mut_1', phase: 'acknowledged' }] : [] });
    return path === '/v1/commits'
      ? ok({ items: this.shipped ? [{ commit_id: 'cp_1', rollback_id: 'rb_2' }] : [] })
      : null;
  }

  private loyalty(path: string): HttpReply {
    if (path === '/points')
      return ok({ grants: [{ mutation_id: 'mut_1', points: 50, state: this.shipped ? 'withdrawn' : 'granted' }] });
    const types = [
      'RollbackAnnounced',
      ...(this.decided !== null || this.temper.expires === true ? ['RollbackSettled'] : []),
    ];
    return ok({ notifications: types.map((type) => ({ type, mutation_id: 'mut_1' })) });
  }

  private recoverability(): string {
    if (!this.shipped) return 'reversal_available';
    if (this.temper.expires === true || this.decided === 'deny') return 'manual_resolution_required';
    if (this.decided === 'approve') return this.phantom ? 'compensation_failed' : 'compensated';
    return 'reversal_available';
  }
}

const ok = (body: Facts): HttpReply => ({ status: 200, body });

async function play(world: World, more: Partial<StoryOptions> = {}) {
  const lines: string[] = [];
  let time = 0;
  const fetchers = {
    ask: world.ask,
    sleep: (ms: number) => {
      time += ms;
      return Promise.resolve();
    },
    now: () => time,
  };
  const result = await playStory({
    urls,
    scenario: 'refund',
    breakMode: null,
    interactive: null,
    say: (line) => lines.push(line),
    fetchers,
    ...more,
  });
  return {
    ...result,
    text: lines.join('\n'),
    broken: result.checks.filter((check) => !check.ok).map(({ name }) => name),
  };
}

describe('the story of the drifted refund', () => {
  it('holds when every side does its part, on an order nobody has yet', async () => {
    const world = new World();
    const { ok: isOk, broken, text } = await play(world);
    expect(broken).toEqual([]);
    expect(isOk).toBe(true);
    expect(text).toContain('order 4712');
    expect(text).toContain('Without Recourse');
  });

  it('asks the person at the terminal, and takes no for an answer', async () => {
    const world = new World();
    const { ok: isOk } = await play(world, { interactive: () => Promise.resolve('deny') });
    expect([isOk, world.decided, world.status]).toEqual([true, 'deny', 'settled']);
  });

  it('says that it approves without asking, where nobody is there to ask', async () => {
    const { ok: isOk, text } = await play(new World());
    expect(isOk).toBe(true);
    expect(text).toContain('nobody is asked, since there is no terminal');
    const asked = await play(new World(), { interactive: () => Promise.resolve('approve') });
    expect(asked.text).not.toContain('nobody is asked');
  });

  it('notices a provider that says yes and undoes nothing, and sets it right again', async () => {
    const world = new World();
    const { ok: isOk, broken } = await play(world, { breakMode: 'phantom-undo' });
    expect(isOk).toBe(false);
    expect(broken).toContain('the ledger says compensated');
    expect(world.asked.filter((line) => line === 'POST provider/faults')).toHaveLength(2);
  });

  it('notices a refund that was reversed before anybody was asked', async () => {
    expect((await play(new World({ silent: true }))).broken).toContain('nothing was reversed silently');
  });

  it('notices an approval by the one who profits', async () => {
    expect((await play(new World({ selfApproval: true }))).broken).toContain(
      'nobody approves what was done on their own behalf',
    );
  });

  it('shows the debit, the ceiling and the refund', async () => {
    const { text } = await play(new World());
    expect(text).toContain('debited INR 500.00 before the call');
    expect(text).toContain("INR 500.00 of the run's ceiling of INR 5000.00 are used");
    expect(text).toContain('the debt is refunded, now that the compensation was verified');
    expect(text).toContain("INR 0.00 of the run's ceiling of INR 5000.00 are used");
  });

  it('notices a refund that was debited only after the call', async () => {
    expect((await play(new World({ unreserved: true }))).broken).toEqual([
      'the debt was debited before the call, under the ceiling of the run',
    ]);
  });

  it('notices a debt that a verified compensation does not free', async () => {
    expect((await play(new World({ keepsDebt: true }))).broken).toEqual([
      'the debt was refunded after the verified compensation',
      'the run owes nothing any more',
    ]);
  });

  it('shows that nothing is refunded when the effect stays', async () => {
    const { ok: isOk, text } = await play(new World(), { interactive: () => Promise.resolve('deny') });
    expect([isOk, text.includes("nothing is refunded: INR 500.00 of the run's ceiling")]).toEqual([true, true]);
  });

  it('ends with people when the window has closed', async () => {
    const { ok: isOk, text } = await play(new World({ expires: true }), { scenario: 'window-closed' });
    expect(isOk).toBe(true);
    expect(text).toContain('manual_resolution_required');
  });
});
