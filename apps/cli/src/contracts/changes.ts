// What two versions of a contract differ in, as people and scripts read it. Pure.
import { compatibilityReport, diffContracts, isWeakening } from '@recourse/contract';
import type { Compatibility, Contract, Difference } from '@recourse/contract';
import { countText } from '../output/count-text.js';

/** Where the text behind the kind of a difference begins: the longest kind, and a gap. */
const KIND_WIDTH = 'strengthening'.length + 2;

/** The kind of a difference, as the first column of what is said of it. */
export function kindCell(kind: string): string {
  return kind.padEnd(KIND_WIDTH);
}

export interface Changes {
  readonly capability: string;
  readonly weaker: boolean;
  readonly differences: readonly Difference[];
  /** Empty without open mutations. */
  readonly compatibility: readonly Compatibility[];
}

/** Compares two versions; `open` is how many mutations are still open under the older one. */
export function changesOf(older: Contract, newer: Contract, open: number): Changes {
  const differences = diffContracts(older, newer);
  return {
    capability: newer.name,
    weaker: isWeakening(differences),
    differences,
    compatibility: compatibilityReport([{ contract: older, open }], newer),
  };
}

export function changesText({ capability, weaker, differences, compatibility }: Changes): string {
  if (differences.length === 0) return `${capability}: no difference`;
  return [
    ...differences.map(
      ({ kind, path, from, to, reason }) =>
        `${kindCell(kind)}${path}  ${JSON.stringify(from)} -> ${JSON.stringify(to)}\n${kindCell('')}${reason}`,
    ),
    '',
    `${capability}: ${weaker ? 'weaker than before, so a second person has to confirm it' : 'not weaker than before: one person registers it'}`,
    ...compatibility.flatMap(({ version, open, notes }) => [
      `version ${version}: ${countText(open, 'mutation is', 'mutations are')} open, recovered under it, and bound by what the newer one asks beyond it`,
      ...notes.map(({ code, message }) => `  ${code}: ${message}`),
    ]),
  ].join('\n');
}
