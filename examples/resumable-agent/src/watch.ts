// What speaks against a decision of the agent: the stock of its warehouses. The rule runs in the process, beside it or apart.
import type { DetectorRule, Sighting } from '@recourse/sdk';

/** The policy bundle that admits decisions: nothing known to be wrong is relied on, and what a decision needs is in the state it goes on from. */
export const DELIVERY_BUNDLE = {
  owner: 'logistics',
  doc: 'Decisions of the delivery planner.',
  admission: [
    {
      name: 'stands',
      when: 'gate.relies_on.all(ref, !(ref in gate.contradicted))',
      reason: 'it relies on what is known to be wrong',
    },
    { name: 'grounded', when: 'gate.needs.all(part, part in state)', reason: 'what it was decided on is not decided' },
  ],
  recovery: [],
};

/** A warehouse that has nothing left was not stocked. */
export const RULES: readonly DetectorRule[] = [
  {
    name: 'stocked',
    kinds: ['observation', 'tool_return'],
    sources: ['inventory.count_stock'],
    expects: 'observed.result.left > 0',
    offender: { ref: 'warehouse/{/args/warehouse}#stocked' },
  },
];

/** A count of a warehouse, as somebody outside the run made it. */
export function counted(tenant: string, warehouse: string, left: number, seenAt: number): Sighting {
  return {
    tenant,
    runId: null,
    kind: 'observation',
    source: 'inventory.count_stock',
    facts: { args: { warehouse }, result: { left } },
    seenAt,
  };
}
