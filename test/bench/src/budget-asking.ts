// What is asked of the accountant: at once before it starts, and at a steady rate while it runs.
import { BUDGET_COMMANDS } from '@recourse/budget-accountant';
import { say } from './bench-stack.js';
import type { BenchStack } from './bench-stack.js';
import { askingOf, onTheWire, openingOf, openRefund } from './budget-commands.js';
import type { BudgetLoad } from './budget-load.js';
import type { BudgetAnswer, BudgetQuestion } from './budget-service.main.js';
import type { MeasuredAddress } from './measured-service.js';
import { sleep } from './waits.js';
import { sharedClockMs } from './worker-process.js';

const SEND_BATCH = 1_000;
const OFFER_EVERY_MS = 2;

/** What is asked at once, and what at half load. */
export interface Loads {
  readonly full: BudgetLoad;
  readonly paced: BudgetLoad;
}

/** Ceilings of all tenants, then what is asked for at once. */
export async function preload(bench: BenchStack, address: MeasuredAddress, { full, paced }: Loads): Promise<void> {
  say(`preloading ${String(full.asks.length)} asks`);
  const key = Buffer.from(address.edgeKey ?? '', 'hex');
  const { name } = openRefund();
  const wire = await bench.kafka.wireProducer();
  const openings = [...full.tenants, ...paced.tenants].flatMap(openingOf);
  const all = [...openings, ...full.asks.map((ask) => askingOf(ask, name))];
  for (let from = 0; from < all.length; from += SEND_BATCH)
    await wire.send(
      BUDGET_COMMANDS,
      all.slice(from, from + SEND_BATCH).map((said) => onTheWire(bench, key, said)),
    );
  await wire.close();
}

/** How fast, and whom to ask at the end. */
export interface Offering {
  readonly offeredPerS: number;
  readonly ask: (question: BudgetQuestion) => Promise<BudgetAnswer>;
}

/** Sends at a steady rate, whatever becomes of it; when each was sent by its id, and what the accountant says at the end. */
export async function offer(
  bench: BenchStack,
  address: MeasuredAddress,
  { full, paced }: Loads,
  { offeredPerS, ask }: Offering,
): Promise<{ readonly sentAt: ReadonlyMap<string, number>; readonly all: BudgetAnswer }> {
  const key = Buffer.from(address.edgeKey ?? '', 'hex');
  const { name } = openRefund();
  const ready = paced.asks.map((one) => {
    const said = askingOf(one, name);
    const { command_id: id } = said.body['envelope'] as { readonly command_id: string }; // every command has one
    return { id, record: onTheWire(bench, key, said) };
  });
  say(`offering ${String(ready.length)} at ${String(Math.round(offeredPerS))} per second`);
  const wire = await bench.kafka.wireProducer();
  const sentAt = new Map<string, number>();
  const sent: Promise<void>[] = [];
  const startedAt = sharedClockMs();
  for (let from = 0; from < ready.length;) {
    const now = sharedClockMs();
    const due = ready.slice(from, Math.ceil(((now - startedAt) * offeredPerS) / 1_000));
    from += due.length;
    for (const { id } of due) sentAt.set(id, now);
    if (due.length > 0)
      sent.push(
        wire.send(
          BUDGET_COMMANDS,
          due.map(({ record }) => record),
        ),
      );
    await sleep(OFFER_EVERY_MS);
  }
  await Promise.all(sent);
  await wire.close();
  return { sentAt, all: await ask({ decisions: full.asks.length + paced.asks.length }) };
}
