// Which of two contracts of one capability binds a tenant: its own, or that of the platform. A tenant tightens and never loosens.
import type { Contract } from '../shape.js';
import type { Difference } from './comparers.js';
import { diffContracts } from './contract-diff.js';

/** Where a tenant's contract is less strict than the platform's; a tenant may only tighten. */
export function looserThan(platform: Contract, own: Contract): readonly Difference[] {
  return diffContracts(platform, own).filter(({ kind }) => kind === 'weakening');
}

/** The one that binds: the tenant's own, unless the platform has become stricter than it since it was registered. */
export function governing<Found extends { readonly contract: Contract }>(
  own: Found | undefined,
  platform: Found | undefined,
): Found | undefined {
  if (own === undefined || platform === undefined) return own ?? platform;
  return isLooser(platform.contract, own.contract) ? platform : own;
}

/** Answers by contract: contracts are parsed once and kept, and comparing two costs as much as parsing one. */
const answers = new WeakMap<Contract, WeakMap<Contract, boolean>>();

function isLooser(platform: Contract, own: Contract): boolean {
  const known = answers.get(platform) ?? new WeakMap<Contract, boolean>();
  answers.set(platform, known);
  const answer = known.get(own) ?? looserThan(platform, own).length > 0;
  known.set(own, answer);
  return answer;
}
