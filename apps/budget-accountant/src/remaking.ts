// Decisions of the accountant, made again for packets: under the settings they were made with, and as other ceilings or policies would have it.
import { bundleInstead, remaking } from '@recourse/service/replay';
import { CONFIG } from './config.js';
import { budgetsCore } from './core.js';
import { budgets } from './rows/kinds.js';

const { escalationOwner, escalationDeadlineMs, settleWithinMs, approvalWithinMs } = CONFIG;

export const REMAKING = remaking(
  { escalationOwner, escalationDeadlineMs, settleWithinMs, approvalWithinMs },
  {
    coreOf: budgetsCore,
    keyed: new Set(),
    whatIf: (other) => ({
      record: bundleInstead(other),
      row: (kind, doc) => {
        const isIt = ({ scope, unit }: (typeof other.ceilings)[number]): boolean =>
          kind === budgets.spec.kind && doc['scope'] === scope && doc['currency'] === unit;
        const ceiling = other.ceilings.find(isIt);
        return ceiling === undefined ? null : { ...doc, ceiling_minor: ceiling.minor };
      },
    }),
  },
);
