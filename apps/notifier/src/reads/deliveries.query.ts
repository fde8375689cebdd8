// Deliveries and endpoints as people see them: where each stands, why, and the way out. No secret, no whole address: an address can be a secret.
import type { Delivery, DeliveryState } from '../rules/delivery/delivery.messages.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import type { EndpointFigures } from '../store/notifier-store.port.js';

export interface ShownDelivery {
  /** The `webhook-id` the receiver sees. */
  readonly id: string;
  readonly endpoint: string;
  readonly tenant: string;
  readonly occasion: string;
  readonly item_kind: string | null;
  readonly item_id: string | null;
  readonly run_id: string | null;
  readonly state: DeliveryState;
  readonly attempts: number;
  readonly due_at: number;
  /** Null where nothing is tried any more. */
  readonly next_at: number | null;
  readonly last_error: { readonly code: string; readonly http_status: number | null } | null;
  readonly way_out: string | null;
  readonly updated_at: number;
}

export interface ShownEndpoint {
  readonly name: string;
  readonly shape: string | null;
  /** Scheme, host and port; the path can be a secret. */
  readonly to: string | null;
  readonly secrets: number;
  readonly tenants: readonly string[] | 'all';
  readonly kinds: readonly string[] | 'all';
  readonly remind_before_ms: number | null;
  readonly tell_ends: boolean;
  readonly state: 'on' | 'off' | 'not_configured';
  readonly off_since: number | null;
  readonly queued: number;
  readonly given_up: number;
  readonly oldest_due_at: number | null;
  readonly way_out: string | null;
}

/** Shows a delivery. `states` are those of the endpoints, by name. */
export function shownDelivery(
  delivery: Delivery,
  endpoints: ReadonlyMap<string, ShownEndpoint['state']>,
): ShownDelivery {
  const { id, endpoint, tenant, notice, state, attempts, dueAt, nextAt, lastError, updatedAt } = delivery;
  return {
    id,
    endpoint,
    tenant,
    occasion: notice.occasion,
    item_kind: notice.item?.kind ?? null,
    item_id: notice.item?.id ?? null,
    run_id: notice.item?.runId ?? null,
    state,
    attempts,
    due_at: dueAt,
    next_at: state === 'queued' ? nextAt : null,
    last_error: lastError === null ? null : { code: lastError.code, http_status: lastError.httpStatus },
    way_out: wayOut(delivery, endpoints.get(endpoint) ?? 'not_configured'),
    updated_at: updatedAt,
  };
}

/** What a person can do about one that is not there; null where there is nothing to do. */
function wayOut({ state, lastError }: Delivery, endpoint: ShownEndpoint['state']): string | null {
  if (state === 'delivered' || state === 'superseded') return null;
  if (endpoint === 'not_configured')
    return 'Nothing is sent to an endpoint the file does not name: put it back, or let the item end.';
  if (endpoint === 'off') return 'The receiver said that it is gone (410): mend it, then turn the endpoint on.';
  if (state === 'given_up') return 'It was tried for as long as configured: mend the receiver, then retry it.';
  return lastError === null ? null : 'It is tried again by itself; retry it to have that at once.';
}

/** Endpoints of the file, and those that were told something once, each with what it has before it. */
export function shownEndpoints(
  endpoints: readonly Endpoint[],
  figures: readonly EndpointFigures[],
): readonly ShownEndpoint[] {
  const configured = endpoints.map((endpoint) =>
    shownEndpoint(
      endpoint,
      figures.find(({ name }) => name === endpoint.name),
    ),
  );
  const others = figures.filter(
    ({ name, queued }) => queued > 0 && !endpoints.some((endpoint) => endpoint.name === name),
  );
  return [
    ...configured,
    ...others.map(({ name, offSince, queued, givenUp, oldestDueAt }): ShownEndpoint => ({
      name,
      shape: null,
      to: null,
      secrets: 0,
      tenants: [],
      kinds: [],
      remind_before_ms: null,
      tell_ends: false,
      state: 'not_configured',
      off_since: offSince,
      queued,
      given_up: givenUp,
      oldest_due_at: oldestDueAt,
      way_out: 'The file names it no more, and deliveries to it are queued: put it back, or let the items end.',
    })),
  ];
}

/** What a tenant sees of endpoints: those that hear of it, and no name of another tenant they hear of. Undefined for who sees all. */
export function endpointsOf(tenant: string | undefined, endpoints: readonly ShownEndpoint[]): readonly ShownEndpoint[] {
  if (tenant === undefined) return endpoints;
  return endpoints
    .filter(({ tenants }) => tenants === 'all' || tenants.includes(tenant))
    .map((endpoint) => (endpoint.tenants === 'all' ? endpoint : { ...endpoint, tenants: [tenant] }));
}

function shownEndpoint(
  { name, url, shape, keys, tenants, kinds, remindBeforeMs, tellsEnds }: Endpoint,
  figures: EndpointFigures | undefined,
): ShownEndpoint {
  const offSince = figures?.offSince ?? null;
  return {
    name,
    shape,
    to: new URL(url).origin,
    secrets: keys.length,
    tenants: tenants ?? 'all',
    kinds: kinds ?? 'all',
    remind_before_ms: remindBeforeMs,
    tell_ends: tellsEnds,
    state: offSince === null ? 'on' : 'off',
    off_since: offSince,
    queued: figures?.queued ?? 0,
    given_up: figures?.givenUp ?? 0,
    oldest_due_at: figures?.oldestDueAt ?? null,
    way_out: offSince === null ? null : 'The receiver said that it is gone (410): mend it, then turn the endpoint on.',
  };
}
