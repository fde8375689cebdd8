// A little shop: its stock, and the tool that reserves some of it.
import { readFile } from 'node:fs/promises';
import { contractBody, contractDigest, parseContract } from '@recourse/contract';
import type { Contract } from '@recourse/contract';
import { ToolRejected } from '@recourse/sdk';
import type { Json } from '@recourse/kernel';
import { z } from 'zod';

const order = z.object({ sku: z.string(), quantity: z.int() });

/** The contract of the tool, as the file beside this example says it, with the digest the registry would give it. */
export async function readStockContract(): Promise<{ readonly contract: Contract; readonly contractDigest: Buffer }> {
  const parsed = parseContract(await readFile(new URL('../contracts/reserve-stock.json', import.meta.url), 'utf8'));
  if (!parsed.ok) throw new Error(parsed.problems.map(({ message }) => message).join('; '));
  return { contract: parsed.contract, contractDigest: contractDigest(contractBody(parsed.contract)) };
}

/** The shop: what is on the shelf, by article. */
export interface Shop {
  readonly left: () => Readonly<Record<string, number>>;
  readonly reserve: (args: Json) => Promise<Json>;
}

export function openShop(shelf: Readonly<Record<string, number>>): Shop {
  const left = { ...shelf };
  return {
    left: () => ({ ...left }),
    reserve: (args) => {
      const { sku, quantity } = order.parse(args);
      const there = left[sku] ?? 0;
      if (there < quantity)
        return Promise.reject(new ToolRejected('OUT_OF_STOCK', `only ${String(there)} of ${sku} are left`));
      left[sku] = there - quantity;
      return Promise.resolve({ reservation_id: `rsv-${sku}-${String(quantity)}`, left: there - quantity });
    },
  };
}
