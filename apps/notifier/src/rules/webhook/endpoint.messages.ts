// An endpoint: where notices go, in which shape, and about what.
import type { ItemKind } from '../item/item.messages.js';

export const SHAPES = ['generic', 'slack'] as const;
export type Shape = (typeof SHAPES)[number];

export interface Endpoint {
  /** Lower-case name; it labels metrics and is part of every webhook id. */
  readonly name: string;
  readonly url: string;
  readonly shape: Shape;
  /** Keys that sign, newest first; two while they are exchanged. */
  readonly keys: readonly Buffer[];
  /** Tenants it hears of; null for all. */
  readonly tenants: readonly string[] | null;
  /** Kinds of items it hears of; null for all. */
  readonly kinds: readonly ItemKind[] | null;
  /** How long before its deadline an item that is still open is told of again, milliseconds; null for never. */
  readonly remindBeforeMs: number | null;
  /** True where it also hears that an item has ended. */
  readonly tellsEnds: boolean;
}

/** Does the endpoint hear of such an item of a tenant? */
export function hears(
  { tenants, kinds }: Pick<Endpoint, 'tenants' | 'kinds'>,
  tenant: string,
  kind: ItemKind,
): boolean {
  return (tenants?.includes(tenant) ?? true) && (kinds?.includes(kind) ?? true);
}
