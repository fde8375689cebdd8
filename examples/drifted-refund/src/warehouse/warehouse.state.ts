// What the warehouse knows. Pure; the journal makes it durable.

export interface Order {
  readonly order: string;
  readonly status: 'open' | 'shipped';
  /** Epoch milliseconds. */
  readonly opened_at: number;
  readonly shipped_at: number | null;
  readonly carrier: string | null;
  /** Whether Recourse has acknowledged the statements about it. */
  readonly told: { readonly opened: boolean; readonly shipped: boolean };
}

export type WarehouseState = Readonly<Record<string, Order>>;

export type WarehouseEvent =
  | { readonly type: 'OrderOpened'; readonly order: string; readonly at: number }
  | { readonly type: 'OrderShipped'; readonly order: string; readonly at: number; readonly carrier: string }
  | { readonly type: 'StatementTold'; readonly order: string; readonly what: 'opened' | 'shipped' };

export function evolveWarehouse(state: WarehouseState, event: WarehouseEvent): WarehouseState {
  if (event.type === 'OrderOpened') {
    return {
      ...state,
      [event.order]: {
        order: event.order,
        status: 'open',
        opened_at: event.at,
        shipped_at: null,
        carrier: null,
        told: { opened: false, shipped: false },
      },
    };
  }
  const order = state[event.order];
  if (order === undefined) return state;
  const next: Order =
    event.type === 'OrderShipped'
      ? { ...order, status: 'shipped', shipped_at: event.at, carrier: event.carrier }
      : { ...order, told: { ...order.told, [event.what]: true } };
  return { ...state, [event.order]: next };
}

/** Statements that are owed: what happened before what was told. */
export function owedStatements(
  state: WarehouseState,
): readonly { readonly order: Order; readonly what: 'opened' | 'shipped' }[] {
  return Object.values(state).flatMap((order) => [
    ...(order.told.opened ? [] : [{ order, what: 'opened' as const }]),
    ...(order.status === 'shipped' && !order.told.shipped ? [{ order, what: 'shipped' as const }] : []),
  ]);
}

/** The assumption others rely on. */
export function notShipped(order: string): string {
  return `order/${order}#not_shipped`;
}
