// A warehouse for specs on real parts: contracts derived from examples/contracts/inventory.*, its tools, and an agent and a worker over them, as `connect` makes them.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@recourse/kernel';
import { connect, happened, notHappened } from '@recourse/sdk';
import type { ForwardTool, GuardedResult, Recourse, Tool } from '@recourse/sdk';
import { z } from 'zod';
import { EDITOR, INITIATOR } from './system.testing.js';
import type { Facts, Person, System } from './system.testing.js';

const AGENT: Person = { subject: 'svc:warehouse', roles: ['agent'] };
const RESERVE = 'inventory.reserve_stock';
const RELEASE = 'inventory.release_stock';
const LOOK = 'inventory.get_reservation';
const KEYED = { mechanism: 'The warehouse deduplicates by key.', key_lifetime_ms: 86_400_000 };
const BY_A_PERSON = { mode: 'approval_required', reason: 'Somebody waits for these goods.' };
const HOLD_MS = 5_000;
const PRICED = {
  type: 'object',
  required: ['order_id', 'sku', 'quantity', 'price_minor', 'currency'],
  properties: {
    order_id: { type: 'string' },
    sku: { type: 'string' },
    quantity: { type: 'integer' },
    price_minor: { type: 'integer' },
    currency: { type: 'string' },
  },
};

/** Capabilities of the specs, by what is special about each: the file it is derived from, and what differs. */
const CAPABILITIES: Readonly<Record<string, { readonly from: string; readonly differs?: Facts }>> = {
  [LOOK]: { from: LOOK },
  'inventory.get_stock': {
    from: LOOK,
    differs: {
      args_schema: fileOf(RESERVE)['args_schema'],
      result_schema: { type: 'object', required: ['in_stock'], properties: { in_stock: { type: 'integer' } } },
      subject: '/order_id',
    },
  },
  [RELEASE]: { from: RELEASE, differs: { idempotency: KEYED } },
  'inventory.unstage_stock': {
    from: RELEASE,
    differs: { args_schema: fileOf(RESERVE)['args_schema'], subject: '/order_id', idempotency: KEYED },
  },
  'inventory.drop_cover': {
    from: RELEASE,
    differs: {
      args_schema: {
        type: 'object',
        required: ['reservation', 'receipt'],
        properties: { reservation: { type: 'string' }, receipt: { type: 'string' } },
      },
      idempotency: KEYED,
    },
  },
  [RESERVE]: { from: RESERVE, differs: { idempotency: KEYED } },
  /** Staged at once, committed when its hold ends and there is stock. */
  'inventory.stage_stock': {
    from: RESERVE,
    differs: {
      idempotency: KEYED,
      techniques: { hold: true, reservation: true },
      commit_hold_ms: HOLD_MS,
      cancel_capability: 'inventory.unstage_stock',
      precondition: {
        observe_capability: 'inventory.get_stock',
        condition: 'observed.in_stock >= args.quantity',
      },
    },
  },
  /** Rehearsed, and agreed to, before its effect. */
  'inventory.order_stock': {
    from: RESERVE,
    differs: {
      idempotency: KEYED,
      techniques: { dry_run_capability: 'inventory.get_stock' },
      forward_approval: 'human',
      recovery_approval_mode: 'human',
      compensation_mode: BY_A_PERSON,
    },
  },
  /** Taken back by two people. */
  'inventory.sell_stock': {
    from: RESERVE,
    differs: { idempotency: KEYED, recovery_approval_mode: 'dual_control', compensation_mode: BY_A_PERSON },
  },
  /** Taken back by a person, as long as nobody picked it. */
  'inventory.lend_stock': {
    from: RESERVE,
    differs: { idempotency: KEYED, recovery_approval_mode: 'human', compensation_mode: BY_A_PERSON },
  },
  /** Costs money, and is taken back by a person. */
  'inventory.buy_stock': {
    from: RESERVE,
    differs: {
      args_schema: PRICED,
      idempotency: KEYED,
      impact: 'financial',
      value: { amount: '/price_minor', currency: '/currency' },
      consequence: { money: 'args.price_minor' },
      recovery_approval_mode: 'human',
      compensation_mode: BY_A_PERSON,
    },
  },
  /** Taken back with the receipt for the release of what it covers. */
  'inventory.cover_stock': {
    from: RESERVE,
    differs: {
      idempotency: KEYED,
      compensation_capability: 'inventory.drop_cover',
      reversal_args: {
        reservation: { from: 'external_ref' },
        receipt: { from: 'step', capability: RESERVE, path: '/receipt' },
      },
    },
  },
};

function fileOf(name: string): Facts {
  return JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts; // a contract is a JSON object
}

const asked = z.object({ order_id: z.string(), sku: z.string(), quantity: z.number() });
const named = z.object({ reservation: z.string().optional(), order_id: z.string().optional() });
type Reservation = z.infer<typeof asked> & { readonly reservation: string; status: 'staged' | 'reserved' | 'released' };

/** What the warehouse holds, and every call that reached it. */
export class Warehouse {
  readonly calls: { readonly what: string; readonly of: string; readonly args: Json }[] = [];
  inStock = 100;
  readonly #held = new Map<string, Reservation>();

  readonly forward: ForwardTool = {
    execute: (args, { idempotencyKey }) => Promise.resolve(this.#make('reserve', args, idempotencyKey, 'reserved')),
    stage: (args, { idempotencyKey }) =>
      Promise.resolve(this.#make('stage', args, idempotencyKey, 'staged').reservation),
    rehearse: (args) => Promise.resolve({ left: this.inStock - asked.parse(args).quantity }),
    externalTransactionRef: (result) => named.parse(result).reservation ?? null,
  };

  readonly tools: Readonly<Record<string, Tool>> = {
    [LOOK]: (args, { phase, idempotencyKey }) => {
      const { reservation = '' } = named.parse(args);
      const found = phase === 'reconcile' ? this.#held.get(idempotencyKey) : this.of(reservation);
      if (phase === 'reconcile' && reservation === '')
        return Promise.resolve(found === undefined ? notHappened() : happened({ ...found }, found.reservation));
      return Promise.resolve({ ...found });
    },
    'inventory.get_stock': () => Promise.resolve({ in_stock: this.inStock }),
    [RELEASE]: (args) => Promise.resolve(this.#release('release', args, null)),
    'inventory.drop_cover': (args) => Promise.resolve(this.#release('drop', args, null)),
    'inventory.unstage_stock': (args, { externalTransactionRef }) =>
      Promise.resolve(this.#release('unstage', args, externalTransactionRef)),
  };

  of(reservation: string): Reservation | undefined {
    return [...this.#held.values()].find((one) => one.reservation === reservation);
  }

  /** What was asked for about an order, in its order. */
  about(order: string): readonly string[] {
    return this.calls.filter(({ of }) => of === order).map(({ what }) => what);
  }

  #make(what: string, args: Json, key: string, status: Reservation['status']): Reservation {
    const wanted = asked.parse(args);
    this.calls.push({ what, of: wanted.order_id, args });
    const made = this.#held.get(key) ?? { ...wanted, reservation: `rsv_${key}`, status };
    made.status = status;
    this.#held.set(key, made);
    return { ...made };
  }

  #release(what: string, args: Json, staged: string | null): Json {
    const { reservation = staged ?? '' } = named.parse(args);
    const found = this.of(reservation);
    this.calls.push({ what, of: found?.order_id ?? '', args });
    if (found !== undefined) found.status = 'released';
    return { ...found, receipt: `rc_${reservation}` };
  }
}

/** What is special about a call: the order it is about (the run's name unless told), how many, what for, and whether it is only rehearsed. */
interface Call {
  readonly order?: string;
  readonly quantity?: number;
  readonly priceMinor?: number;
  readonly isRehearsal?: boolean;
  readonly onFailure?: 'compensate';
}

/** The warehouse under Recourse. */
export interface ConnectedWarehouse {
  readonly warehouse: Warehouse;
  /** One call of an agent. */
  readonly act: (capability: string, runId: string, call?: Call) => Promise<GuardedResult>;
  readonly stop: () => Promise<void>;
}

/** Registers the contracts, starts a worker, and puts the tools under their guard. Errors: the first contract that is refused. */
export async function openWarehouse(system: System): Promise<ConnectedWarehouse> {
  await register(system);
  const warehouse = new Warehouse();
  const stateDir = mkdtempSync(join(tmpdir(), 'recourse-warehouse-'));
  const recourse = await connectAgent(system, stateDir);
  await recourse.worker({
    adapter: 'inventory',
    capabilities: warehouse.tools,
    forwardTools: { 'inventory.stage_stock': warehouse.forward },
  });
  return {
    warehouse,
    act: async (
      capability,
      runId,
      { order = runId, quantity = 1, priceMinor, isRehearsal = false, onFailure } = {},
    ) => {
      const guarded = await recourse.guard(warehouse.forward, { contract: capability });
      const place = {
        runId,
        stepId: capability,
        initiator: INITIATOR.subject,
        objective: 'serve the customer',
        isRehearsal,
        ...(onFailure === undefined ? {} : { onFailure }),
      };
      const price = priceMinor === undefined ? {} : { price_minor: priceMinor, currency: 'EUR' };
      return guarded({ order_id: order, sku: 'lamp', quantity, ...price }, place);
    },
    stop: async () => {
      await recourse.close();
      rmSync(stateDir, { recursive: true, force: true });
    },
  };
}

async function register(system: System): Promise<void> {
  for (const [name, { from, differs = {} }] of Object.entries(CAPABILITIES)) {
    const body = { ...fileOf(from), ...differs, name };
    const { status, body: answer } = await system.post('registry', '/v1/contracts', body, {
      person: EDITOR,
      key: name,
    });
    if (status !== 201) throw new Error(`${name}: ${JSON.stringify(answer)}`);
  }
}

/** The agent, as anybody's would connect. */
function connectAgent({ plan, stack, token }: System, stateDir: string): Promise<Recourse> {
  return connect({
    name: 'stock-agent',
    environment: { RECOURSE_WIRES: 'open' },
    brokers: [...stack.kafka.brokers],
    registryUrl: stack.registryUrl,
    contractsUrl: plan.urls.registry,
    ledgerUrl: plan.urls.ledger,
    recoveriesUrl: plan.urls.orchestrator,
    budgetUrl: plan.urls.budget,
    token: () => token(AGENT),
    stateDir,
  });
}
