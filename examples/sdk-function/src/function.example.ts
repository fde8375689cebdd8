// A plain function under its contract. Nothing here needs a broker: the producer keeps what it is told.
import { guardFunction, MemoryClaimStore, MemoryProducer, MemoryStanding, systemClock } from '@recourse/sdk';
import type { GuardedResult, GuardMode, GuardTrouble } from '@recourse/sdk';
import { openShop, readStockContract } from './stock.js';

export interface Played {
  readonly answers: readonly GuardedResult[];
  /** What Recourse was told: `ToolPlanned`, or `ToolExecuted` with its outcome. */
  readonly told: readonly string[];
  /** What a guard that only observes would have refused. */
  readonly troubles: readonly string[];
  readonly left: Readonly<Record<string, number>>;
}

/** Reserves three pens, again (a retry), too many, and none at all. */
export async function play(mode: GuardMode): Promise<Played> {
  const shop = openShop({ pen: 5 });
  const standing = new MemoryStanding();
  const producer = new MemoryProducer(standing);
  const troubles: string[] = [];
  const onTrouble = ({ code }: GuardTrouble): void => {
    troubles.push(code);
  };
  const run = { tenant: 'shop', runId: 'run-1', agentId: 'stock-agent', initiator: 'asha', objective: 'serve order 7' };
  const reserve = guardFunction(shop.reserve, {
    ...(await readStockContract()),
    mode,
    producer,
    clock: systemClock,
    standing,
    claims: new MemoryClaimStore(),
    extras: { externalTransactionRef: (result) => handleOf(result) },
    place: () => ({ run, stepId: 'reserve', target: null, assumptionRefs: ['order/7#open'] }),
    onTrouble,
  });
  const answers: GuardedResult[] = [];
  for (const quantity of [3, 3, 4, 0]) answers.push(await reserve({ sku: 'pen', quantity }));
  return {
    answers,
    told: producer.told.map((event) =>
      event.type === 'ToolExecuted' ? `${event.type} ${event.outcome.outcome}` : event.type,
    ),
    troubles,
    left: shop.left(),
  };
}

function handleOf(result: unknown): string | null {
  return typeof result === 'object' &&
    result !== null &&
    'reservation_id' in result &&
    typeof result.reservation_id === 'string'
    ? result.reservation_id
    : null;
}
