// The services the console leads to, and the names they have in its addresses.
import type { ConsoleConfig } from '../config.js';

export const EDGE_NAMES = ['contracts', 'ledger', 'recoveries', 'budgets', 'notifier'] as const;
export type EdgeName = (typeof EDGE_NAMES)[number];
export type Edges = Readonly<Record<EdgeName, string>>;

export function edgesOf(config: ConsoleConfig): Edges {
  return {
    contracts: config.contractsUrl,
    ledger: config.ledgerUrl,
    recoveries: config.recoveriesUrl,
    budgets: config.budgetUrl,
    notifier: config.notifierUrl,
  };
}

export function isEdgeName(name: string): name is EdgeName {
  return EDGE_NAMES.some((known) => known === name);
}

/** Address at a service; null for one outside its API. Pure. */
export function addressAt(base: string, path: string): URL | null {
  const root = `${base.replace(/\/+$/, '')}/`;
  if (!URL.canParse(`./${path}`, root)) return null;
  const found = new URL(`./${path}`, root);
  return found.href.startsWith(`${new URL(root).href}v1/`) ? found : null;
}
