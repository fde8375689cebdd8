// A worker for the shop's stock: gives reservations back, and looks at them. The shop takes no idempotency key.
import { join } from 'node:path';
import type { Kafka } from '@recourse/kafka';
import type { Json } from '@recourse/kernel';
import type { Codecs } from '@recourse/messages';
import {
  createWorker,
  FileClaimStore,
  FilePositionStore,
  happened,
  noteLine,
  notHappened,
  systemClock,
  ToolRejected,
} from '@recourse/sdk';
import type { Tool, Worker } from '@recourse/sdk';
import { z } from 'zod';

const byReservation = z.object({ reservation: z.string().min(1) });
const byOrder = z.object({ order_id: z.string().min(1) });
const reservation = z.object({
  reservation: z.string(),
  order_id: z.string(),
  sku: z.string(),
  quantity: z.int(),
  status: z.string(),
});
const refused = z.object({ code: z.string(), message: z.string() });
/** Longest a call to the shop may take, in milliseconds; a leg may ask for less. */
const CALL_TIMEOUT_MS = 2_000;

/** The tools of the adapter `inventory`, by capability. */
export function stockTools(shop: ShopClient): Readonly<Record<string, Tool>> {
  return {
    'inventory.release_stock': (args) => shop.send('POST', `/reservations/${idOf(args)}/release`),
    'inventory.get_reservation': async (args, { phase }) =>
      phase === 'reconcile' && !byReservation.safeParse(args).success
        ? findByOrder(shop, args)
        : shop.send('GET', `/reservations/${idOf(args)}`),
  };
}

/** Whether a reservation that nobody knows the end of was made: the shop looks it up by its order. */
async function findByOrder(shop: ShopClient, args: Json): Promise<Json> {
  const { order_id } = byOrder.parse(args);
  const [made] = z
    .array(reservation)
    .parse(await shop.send('GET', `/reservations?order_id=${encodeURIComponent(order_id)}`));
  return made === undefined ? notHappened() : happened(made, made.reservation);
}

/** The shop over HTTP. Only a refusal of what was asked proves that nothing happened; every other error says that nobody knows. */
export class ShopClient {
  constructor(
    private readonly url: string,
    private readonly ask: typeof fetch = fetch,
  ) {}

  async send(method: 'GET' | 'POST', path: string): Promise<Json> {
    const answer = await this.ask(`${this.url}${path}`, { method, signal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    const body = z.json().parse(await answer.json());
    // By these the shop says that it did nothing; a 404 or a 409 is also what it says of what was done before.
    if ([400, 401, 403, 412, 422, 429].includes(answer.status)) {
      const { code, message } = refused.parse(body);
      throw new ToolRejected(code, message);
    }
    if (!answer.ok) throw new Error(`the shop answered ${String(answer.status)}`);
    return body;
  }
}

function idOf(args: Json): string {
  const parsed = byReservation.safeParse(args);
  if (!parsed.success) throw new ToolRejected('ARGS_INVALID', 'a reservation is needed');
  return encodeURIComponent(parsed.data.reservation);
}

/** Where the worker finds what it needs. */
export interface WorkerPlace {
  readonly kafka: Kafka;
  readonly codecs: Codecs;
  readonly shopUrl: string;
  readonly dataDir: string;
  readonly workerId: string;
}

/** Makes the worker; nothing is read before its `start`. */
export function stockWorker({ kafka, codecs, shopUrl, dataDir, workerId }: WorkerPlace): Worker {
  return createWorker({
    kafka,
    codecs,
    adapter: 'inventory',
    tools: stockTools(new ShopClient(shopUrl)),
    clock: systemClock,
    claimStore: new FileClaimStore(join(dataDir, 'claims')),
    positions: new FilePositionStore(join(dataDir, 'positions')),
    workerId,
    groupId: 'stock-workers',
    callTimeoutMs: CALL_TIMEOUT_MS,
    onNote: (note) => {
      process.stdout.write(`${noteLine(note)}\n`);
    },
  });
}
