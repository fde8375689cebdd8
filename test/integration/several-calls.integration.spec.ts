// Reversals of several calls, and a capability that undoes itself, on real parts: orchestrator, ledger and a worker in a process of its
// own, which is killed between two calls. Each call takes effect once, in its order, and the last is observed (A60, C43, G4).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startProcesses } from '@recourse/dev-stack';
import type { Processes } from '@recourse/dev-stack';
import { deriveId } from '@recourse/kernel';
import type { Action, ActionOutcome } from '@recourse/sdk';
import { EDITOR, executed, EXECUTIONS, itemsOf, runOn, startSystem, TENANT, until } from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const WORKER = 'till-worker';
/** A killed member of a group is missed after its session; then the leg comes again, and after its lease the next attempt. */
const UNDONE_WITHIN_MS = 150_000;
const [VOID, RESET, PAY_BACK] = ['till.void_sale', 'till.reset_drawer', 'till.return_payment'] as const;
const ACTS: readonly string[] = [VOID, RESET, PAY_BACK, 'tickets.set_status'];

/** One call, as the till saw it. */
interface Call {
  readonly capability: string;
  readonly phase: string;
  readonly key: string;
  readonly args: Facts;
}

/** The till: sales, drawers, payments and tickets by name. An act under a key it knows has no effect again. */
class Till {
  readonly calls: Call[] = [];
  /** Called before a call has an effect; true takes the caller's life, and nothing is answered. */
  strikes: (call: Call) => Promise<boolean> = () => Promise.resolve(false);
  readonly #effects = new Map<string, Facts>();
  readonly #state = new Map<string, Facts>();
  readonly #server: Server = createServer((request, response) => {
    this.#take(request, response).catch(() => {
      response.destroy();
    });
  });

  async open(): Promise<string> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, '127.0.0.1', resolve);
    });
    return `http://127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`; // it listens on TCP
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  put(name: string, state: Facts): void {
    this.#state.set(name, state);
  }

  /** Acts about one of these, in order. */
  actsAbout(...names: readonly string[]): readonly Call[] {
    return this.calls.filter(
      ({ capability, phase, args }) =>
        phase === 'execute' &&
        ACTS.includes(capability) &&
        Object.values(args).some((value) => names.includes(String(value))),
    );
  }

  get effects(): ReadonlyMap<string, Facts> {
    return this.#effects;
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer); // a request without an encoding gives bytes
    // Written by till-worker.main.ts.
    const told = JSON.parse(Buffer.concat(chunks).toString()) as Omit<Call, 'capability'>;
    const call = { ...told, capability: (request.url ?? '').slice(1) };
    this.calls.push(call);
    if (await this.strikes(call)) {
      response.destroy();
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.#answer(call)));
  }

  #answer(call: Call): Facts {
    const { capability, phase, key, args } = call;
    const name = String(args['sale'] ?? args['drawer'] ?? args['ticket']);
    const at = capability === 'till.get_payment' || capability === PAY_BACK ? `payment of ${name}` : name;
    const before = this.#state.get(at) ?? {};
    if (phase !== 'execute' || !ACTS.includes(capability) || this.#effects.has(key)) return before;
    const after = { ...before, ...changeOf(capability, args, before) };
    this.#effects.set(key, after);
    this.#state.set(at, after);
    return after;
  }
}

function changeOf(capability: string, args: Facts, before: Facts): Facts {
  switch (capability) {
    case VOID:
      return { status: 'voided', void_receipt: `void-${String(args['sale'])}` };
    case RESET:
      return { counted_to: args['receipt'] };
    case PAY_BACK:
      return { status: 'returned' };
    default:
      return { status: args['status'], version: Number(before['version']) + 1 };
  }
}

const till = new Till();
const stateDir = mkdtempSync(join(tmpdir(), 'recourse-till-'));
const digests = new Map<string, Buffer>();
let system: System;
let worker: Processes;

beforeAll(async () => {
  system = await startSystem({ adapters: ['till', 'tickets'] });
  await system.codecs.prepareWriter(EXECUTIONS, { register: false });
  await registerAll();
  const { urls } = system.plan;
  const told = {
    brokers: system.stack.kafka.brokers,
    registryUrl: system.stack.registryUrl,
    contractsUrl: urls.registry,
    ledgerUrl: urls.ledger,
    recoveriesUrl: urls.orchestrator,
    budgetUrl: urls.budget,
    token: await system.token({ subject: 'svc:till', roles: ['agent'] }),
    stateDir,
    till: await till.open(),
    adapters: {
      till: [VOID, RESET, PAY_BACK, 'till.get_sale', 'till.get_drawer', 'till.get_payment'],
      tickets: ['tickets.set_status', 'tickets.get_ticket'],
    },
  };
  const entry = fileURLToPath(new URL('till-worker.main.ts', import.meta.url));
  const spec = { name: WORKER, entry, args: [JSON.stringify(told)], readyUrl: null };
  worker = await startProcesses([spec], { logDir: system.stack.logDir, book: system.stack.book });
}, 400_000);
afterAll(async () => {
  await worker.stop();
  await system.stop();
  till.close();
  rmSync(stateDir, { recursive: true, force: true });
}, 60_000);

const fileOf = (name: string): Facts => JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as Facts; // a contract is a JSON object

/** The contracts of the examples; a sale is also paid back, and a ticket goes back by itself. */
async function registerAll(): Promise<void> {
  const payment = { type: 'object', required: ['status'], properties: { status: { type: 'string' } } };
  const payBack = {
    capability: PAY_BACK,
    args: { sale: { from: 'external_ref' } },
    verification: {
      verify_capability: 'till.get_payment',
      success_condition: "observed.status == 'returned'",
      max_attempts: 2,
      delay_ms: 500,
    },
  };
  const sale = fileOf('till.ring_sale');
  const automatic = {
    recovery_approval_mode: 'auto',
    compensation_mode: { mode: 'automatic', reason: 'The history shows both.' },
  };
  const contracts: readonly Facts[] = [
    fileOf('till.get_sale'),
    fileOf('till.get_drawer'),
    { ...fileOf('till.get_sale'), name: 'till.get_payment', result_schema: payment },
    fileOf(VOID),
    fileOf(RESET),
    { ...fileOf(VOID), name: PAY_BACK, result_schema: payment, reconcile_capability: 'till.get_payment' },
    { ...sale, reversal_then: [...(sale['reversal_then'] as readonly Facts[]), payBack] },
    fileOf('tickets.get_ticket'),
    { ...fileOf('tickets.set_status'), ...automatic },
  ];
  for (const contract of contracts) {
    const name = String(contract['name']);
    const { status, body } = await system.post('registry', '/v1/contracts', contract, { person: EDITOR, key: name });
    if (status !== 201) throw new Error(`${name}: ${JSON.stringify(body)}`);
    digests.set(name, Buffer.from(String(body['digest']), 'hex'));
  }
}

/** Tells of an effect, and waits until it can be taken back. */
async function tell(run: string, action: Partial<Action>, outcome: Partial<ActionOutcome>): Promise<string> {
  const contractDigest = digests.get(action.capability ?? '') ?? null;
  const told = executed(run, { contractDigest, ...action }, outcome);
  await system.send(EXECUTIONS, run, system.codecs.encode(EXECUTIONS, 'ToolExecuted', told));
  const mutation = deriveId('mut', TENANT, run, told.effect_key);
  await until('the mutation', async () =>
    (await system.get('ledger', `/v1/mutations/${mutation}`)).body['recoverability'] === 'reversal_available'
      ? true
      : null,
  );
  return mutation;
}

async function undo(run: string): Promise<void> {
  const body = { run_id: run, mutation_ids: [], reason: 'the customer brought it back' };
  expect(await system.post('ledger', '/v1/undos', body, {})).toMatchObject({ status: 201 });
}

const stepOf = async (run: string): Promise<Facts | null> =>
  itemsOf(await system.get('orchestrator', `/v1/steps?run_id=${run}`))[0] ?? null;
const undone = (run: string): Promise<Facts> =>
  until(
    `${run} undone`,
    async () => {
      const step = await stepOf(run);
      return step?.['phase'] === 'compensated' ? step : null;
    },
    UNDONE_WITHIN_MS,
  );

/** A sale that is rung up, in a drawer of its own. */
async function sold(word: string): Promise<{ readonly run: string; readonly sale: string; readonly drawer: string }> {
  const run = runOn(0, word);
  const [sale, drawer] = [`sale-${run}`, `drawer-${run}`];
  till.put(sale, { sale, drawer, status: 'rung' });
  till.put(drawer, { drawer, counted_to: null });
  till.put(`payment of ${sale}`, { status: 'paid' });
  const action = { capability: 'till.ring_sale', args: { drawer, article: 'lamp' } };
  await tell(run, action, { result: { sale, drawer, status: 'rung' }, externalTransactionRef: sale });
  return { run, sale, drawer };
}

const named = (calls: readonly Call[]): readonly string[] => calls.map(({ capability }) => capability);

describe('a reversal of three calls', () => {
  it('voids, resets and pays back in this order, each once under a key of its own, and observes each', async () => {
    const { run, sale, drawer } = await sold('three');
    await undo(run);
    await undone(run);
    const acts = till.actsAbout(sale, drawer);
    expect(named(acts)).toEqual([VOID, RESET, PAY_BACK]);
    const [first = ''] = acts.map(({ key }) => key);
    expect(acts.map(({ key }) => key)).toEqual([first, `${first}_2`, `${first}_3`]);
    expect(acts[1]?.args).toEqual({ drawer, receipt: `void-${sale}` });
    const seen = till.calls.filter(({ phase, args }) => phase === 'verify' && args['sale'] === sale);
    expect(named(seen).at(-1)).toBe('till.get_payment');
  }, 180_000);

  it.each([
    [
      'once the second is made and before it is seen',
      ({ capability, phase }: Call) => phase === 'verify' && capability === 'till.get_drawer',
    ],
    [
      'when the third is asked for and before it has an effect',
      ({ capability, phase }: Call) => phase === 'execute' && capability === PAY_BACK,
    ],
  ] as const)(
    'takes effect once each when the worker is killed %s',
    async (_when, isMoment) => {
      const { run, sale, drawer } = await sold('killed');
      const died = Promise.withResolvers<undefined>();
      till.strikes = async (call) => {
        if (!isMoment(call) || !Object.values(call.args).some((value) => [sale, drawer].includes(String(value))))
          return false;
        till.strikes = () => Promise.resolve(false);
        await worker.kill(WORKER, 'SIGKILL');
        died.resolve(undefined);
        return true;
      };
      await undo(run);
      await died.promise;
      await worker.start(WORKER);
      const step = await undone(run);
      expect(step['attempt']).toBeGreaterThan(1);
      const acts = till.actsAbout(sale, drawer);
      const keys = [...new Set(acts.map(({ key }) => key))];
      expect(keys.map((key) => till.effects.get(key))).toEqual([
        expect.objectContaining({ status: 'voided' }),
        expect.objectContaining({ counted_to: `void-${sale}` }),
        expect.objectContaining({ status: 'returned' }),
      ]);
      expect(named(acts).slice(0, 3)).toEqual([VOID, RESET, PAY_BACK]);
      expect(acts.filter(({ capability }) => capability !== PAY_BACK)).toHaveLength(2);
    },
    240_000,
  );
});

describe('a capability that undoes itself', () => {
  it('is called once more with the prior value, and what undid stands', async () => {
    const run = runOn(1, 'ticket');
    const ticket = `ticket-${run}`;
    till.put(ticket, { ticket, status: 'closed', version: 2, comment_id: 'c-1' });
    const action = { capability: 'tickets.set_status', args: { ticket, status: 'closed' } };
    const result = { ticket, status: 'closed', version: 2 };
    const mutation = await tell(run, action, { result, priorValue: { ticket, status: 'open', version: 1 } });
    await undo(run);
    await undone(run);
    expect(till.actsAbout(ticket)).toMatchObject([{ args: { ticket, status: 'open', expected_version: 2 } }]);
    const [compensation] = await until('the compensation', async () => {
      const found = itemsOf(await system.get('ledger', `/v1/compensations?mutation_id=${mutation}`));
      return found.length === 0 ? null : found;
    });
    expect(compensation).toMatchObject({ capability: 'tickets.set_status', execution_state: 'succeeded' });
    const again = { run_id: run, mutation_ids: [compensation?.['compensation_id']], reason: 'once more' };
    expect(await system.post('ledger', '/v1/undos', again, {})).toMatchObject({
      status: 422,
      body: { code: 'COMPENSATION_STANDS' },
    });
    expect(till.actsAbout(ticket)).toHaveLength(1);
  }, 180_000);
});
