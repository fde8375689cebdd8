// HTTP edge of the notifier: what is on its way, what failed, and to whom.
import { Controller, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { ApiBearerAuth, ApiOperation, ApiTags } from '@nestjs/swagger';
import {
  ALL_TENANTS,
  EdgeRefusal,
  FromCaller,
  Id,
  idText,
  limitTo,
  pageCursorText,
  oneQuery,
  pageQuery,
  placeText,
  Queried,
  readPageCursor,
  ReadRoute,
  seesAllTenants,
  tenantOfRead,
} from '@recourse/service';
import type { Caller, ListAnswer } from '@recourse/service';
import { z } from 'zod';
import { endpointsOf, shownDelivery, shownEndpoints } from '../reads/deliveries.query.js';
import type { ShownDelivery, ShownEndpoint } from '../reads/deliveries.query.js';
import { DELIVERY_STATES } from '../rules/delivery/delivery.messages.js';
import type { Delivery } from '../rules/delivery/delivery.messages.js';
import { testOf } from '../rules/delivery/occasion.decisions.js';
import type { Endpoint } from '../rules/webhook/endpoint.messages.js';
import type { DeliveryPlace } from '../store/notifier-store.port.js';
import { NOTIFIER_CONTEXT } from './notifier-context.js';
import type { NotifierContext } from './notifier-context.js';

const LIMIT_DEFAULT = 100;

const listQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(DELIVERY_STATES).optional(),
  endpoint: idText.optional(),
});
const place: z.ZodType<DeliveryPlace> = z.object({ updatedAt: z.number().int().min(0), id: placeText });

@ApiTags('notifications')
@ApiBearerAuth()
@Controller('v1')
export class DeliveriesController {
  constructor(@Inject(NOTIFIER_CONTEXT) private readonly notifier: NotifierContext) {}

  @ReadRoute(
    'deliveries',
    'Notices and what became of them, the newest first: state, attempts, the last error and the way out.',
    listQuery,
  )
  async deliveries(
    @FromCaller() { principal }: Caller,
    @Queried(listQuery) { state, endpoint, tenant, cursor, limit = LIMIT_DEFAULT }: z.infer<typeof listQuery>,
  ): Promise<ListAnswer<ShownDelivery>> {
    const narrowed = { state, endpoint, tenant: tenantOfRead(principal, tenant) };
    const list = { list: 'deliveries', ...narrowed };
    const found = await this.notifier.store.list({
      ...narrowed,
      countMax: limit + 1,
      after: readPageCursor(list, place, cursor),
    });
    const { items, more } = limitTo(found, limit);
    if (endpoint !== undefined && items.length === 0) await this.refuseUnknown(endpoint, narrowed.tenant);
    const last = more ? items.at(-1) : undefined;
    return {
      items: await this.shown(items),
      next_cursor: last === undefined ? null : pageCursorText(list, placeOf(last)),
    };
  }

  @ReadRoute('deliveries/:id', 'One notice and what became of it.', oneQuery)
  async delivery(
    @FromCaller() caller: Caller,
    @Id('id') id: string,
    @Queried(oneQuery) { tenant }: z.infer<typeof oneQuery>,
  ): Promise<ShownDelivery> {
    return this.one(await this.found(caller, id, tenant));
  }

  @Post('deliveries/:id/retry')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Tries a notice that is queued or was given up at once, and again for as long as any other.',
  })
  async retry(@FromCaller() caller: Caller, @Id('id') id: string): Promise<ShownDelivery> {
    await this.found(caller, id);
    const again = await this.notifier.store.retry(id, this.notifier.now());
    if (again === null)
      throw new EdgeRefusal('DELIVERY_ENDED', 'it was delivered, or its item has ended: there is nothing to retry');
    return this.one(again);
  }

  @ReadRoute(
    'endpoints',
    'Who is told of what, whether it is on, and what is queued for it: of a tenant, what is told of that tenant alone. Secrets and whole addresses are not shown.',
  )
  async endpoints(@FromCaller() { principal }: Caller): Promise<ListAnswer<ShownEndpoint>> {
    const tenant = tenantOfRead(principal);
    const figures = await this.notifier.store.figures(this.notifier.now(), tenant);
    return { items: endpointsOf(tenant, shownEndpoints(this.notifier.endpoints, figures)), next_cursor: null };
  }

  @Post('endpoints/:name/test')
  @HttpCode(200)
  @ApiOperation({ summary: 'Sends an endpoint a test notice; the answer names its delivery.' })
  async test(@FromCaller() caller: Caller, @Param('name') name: string): Promise<ShownDelivery> {
    const endpoint = this.kept(caller, name);
    const { tenant: own } = caller.principal;
    const tenant = own === ALL_TENANTS ? (endpoint.tenants?.[0] ?? ALL_TENANTS) : own;
    const delivery = testOf(endpoint, tenant, this.notifier.nonce(), this.notifier.now());
    await this.notifier.store.queue(delivery);
    return this.one(delivery);
  }

  @Post('endpoints/:name/on')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Turns an endpoint back on after its receiver said that it is gone; what is queued for it is sent.',
  })
  async turnOn(@FromCaller() caller: Caller, @Param('name') name: string): Promise<ShownEndpoint> {
    this.kept(caller, name);
    await this.notifier.store.turnOn(name, this.notifier.now());
    const shown = shownEndpoints(this.notifier.endpoints, await this.notifier.store.figures(this.notifier.now())).find(
      (one) => one.name === name,
    );
    if (shown === undefined) throw unknownEndpoint();
    return shown;
  }

  /** The endpoint, for whoever may manage it: it must hear of no tenant but theirs. */
  private kept({ principal }: Caller, name: string): Endpoint {
    const endpoint = this.notifier.endpoints.find((one) => one.name === name);
    const isTheirs = endpoint?.tenants?.every((tenant) => tenant === principal.tenant) ?? false;
    if (endpoint === undefined || !(isTheirs || seesAllTenants(principal))) throw unknownEndpoint();
    return endpoint;
  }

  /** A name that nobody has is no endpoint without notices. One that is no more is known by those it has, in whatever state. */
  private async refuseUnknown(name: string, tenant: string | undefined): Promise<void> {
    const isTold = this.notifier.endpoints.some(
      (one) => one.name === name && (tenant === undefined || (one.tenants?.includes(tenant) ?? true)),
    );
    if (isTold) return;
    const [told] = await this.notifier.store.list({ endpoint: name, tenant, countMax: 1 });
    if (told === undefined) throw new EdgeRefusal('NOT_FOUND', `no endpoint called ${name} is told of what is yours`);
  }

  /** A delivery of another tenant is answered as if there were none. */
  private async found({ principal }: Caller, id: string, named?: string): Promise<Delivery> {
    const tenant = tenantOfRead(principal, named);
    const delivery = await this.notifier.store.find(id);
    if (delivery === null || (tenant !== undefined && delivery.tenant !== tenant))
      throw new EdgeRefusal('NOT_FOUND', 'no delivery under this id');
    return delivery;
  }

  private async one(delivery: Delivery): Promise<ShownDelivery> {
    const [shown] = await this.shown([delivery]);
    if (shown === undefined) throw new EdgeRefusal('NOT_FOUND', 'no delivery under this id');
    return shown;
  }

  private async shown(deliveries: readonly Delivery[]): Promise<readonly ShownDelivery[]> {
    const endpoints = shownEndpoints(this.notifier.endpoints, await this.notifier.store.figures(this.notifier.now()));
    const states = new Map(
      endpoints.map(({ name, state }): readonly [string, ShownEndpoint['state']] => [name, state]),
    );
    return deliveries.map((delivery) => shownDelivery(delivery, states));
  }
}

function unknownEndpoint(): EdgeRefusal {
  return new EdgeRefusal('NOT_FOUND', 'no endpoint of this name that is yours');
}

function placeOf({ updatedAt, id }: Delivery): DeliveryPlace {
  return { updatedAt, id };
}
