// The checker, first cut.
import type { World } from '../world.js';
export interface Violation { readonly promise: string; readonly rule: string; readonly detail: string }
export interface Checked { readonly violations: readonly Violation[]; readonly operations: number; readonly accepted: number; readonly verified: number }
export async function check(world: World, _o: { readonly isQuick: boolean }): Promise<Checked> {
  await Promise.resolve();
  return { violations: world.halted.map((detail) => ({ promise: 'P2', rule: 'halted', detail })), operations: 1, accepted: 1, verified: 1 };
}
