// A planner without surprises: where an order goes to, from which warehouse, by which carrier. Pure.
import type { Json } from '@recourse/kernel';
import { z } from 'zod';

/** Parts of a plan, in the order they are decided. */
export const PARTS = ['address', 'warehouse', 'carrier'] as const;
export type Part = (typeof PARTS)[number];

/** What has to be decided before a part can be. */
export const NEEDS = { address: [], warehouse: ['address'], carrier: ['warehouse'] } as const satisfies Record<
  Part,
  readonly Part[]
>;

const plan = z.object({
  order: z.string(),
  address: z.string().optional(),
  warehouse: z.string().optional(),
  carrier: z.string().optional(),
});
/** What was decided so far: the state of a checkpoint. */
export type Plan = { readonly order: string } & { readonly [P in Part]?: string };

/** A way to decide a part, and what it relies on. */
export interface Way {
  readonly choice: string;
  readonly reliesOn: readonly string[];
}

/** The plan a state holds; nothing is decided where there is none. */
export function planOf(order: string, state: Json): Plan {
  const read = plan.safeParse(state);
  if (!read.success) return { order };
  const { address, warehouse, carrier } = read.data;
  return {
    order,
    ...(address === undefined ? {} : { address }),
    ...(warehouse === undefined ? {} : { warehouse }),
    ...(carrier === undefined ? {} : { carrier }),
  };
}

/** The part to decide next; null when the plan is whole. */
export function nextPart(decided: Plan): Part | null {
  return PARTS.find((part) => decided[part] === undefined) ?? null;
}

/** Ways to decide a part, the best first. */
export function waysOf(part: Part, { order, warehouse }: Plan): readonly Way[] {
  switch (part) {
    case 'address':
      return [{ choice: 'Mill Lane 3', reliesOn: [`order/${order}#paid`] }];
    case 'warehouse':
      return ['east', 'west'].map((choice) => ({ choice, reliesOn: [`warehouse/${choice}#stocked`] }));
    // A bicycle does not come from the west.
    case 'carrier':
      return (warehouse === 'east' ? ['bicycle', 'van'] : ['van']).map((choice) => ({
        choice,
        reliesOn: [`carrier/${choice}#runs`],
      }));
  }
}
