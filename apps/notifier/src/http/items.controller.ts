// HTTP edge of the notifier: one list of all that waits for a person, in all services.
import { Controller, Inject } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import {
  FromCaller,
  limitTo,
  pageCursorText,
  pageQuery,
  placeText,
  Queried,
  readPageCursor,
  ReadRoute,
  tenantOfRead,
} from '@recourse/service';
import type { Caller, ListAnswer, Trouble } from '@recourse/service';
import { z } from 'zod';
import { shownItem } from '../reads/items.query.js';
import type { ShownItem } from '../reads/items.query.js';
import { ITEM_KINDS, keyOf } from '../rules/item/item.messages.js';
import type { ItemPlace } from '../store/notifier-store.port.js';
import { NOTIFIER_CONTEXT } from './notifier-context.js';
import type { NotifierContext } from './notifier-context.js';

/** A log as the status of every service shows it. */
interface Loop {
  readonly log: string;
  readonly partition: number;
  readonly state: string;
  readonly projectedSeq: number;
  readonly movedSeq: number;
  /** Code of what is in the way; null while nothing is. */
  readonly problem: string | null;
}

interface Status {
  readonly service: 'notifier';
  readonly ready: boolean;
  readonly detail: {
    /** What is waited for, or fails first; null where nothing does. */
    readonly in_the_way: Trouble | null;
    readonly loops: readonly Loop[];
    /** Epoch milliseconds; null where nobody can say. */
    readonly heads_signed_at: number | null;
  };
}

const LIMIT_DEFAULT = 100;
const listQuery = z.strictObject({ ...pageQuery, kind: z.enum(ITEM_KINDS).optional() });
const place: z.ZodType<ItemPlace> = z.object({ deadlineAt: z.number().int(), key: placeText });

@ApiTags('items')
@ApiBearerAuth()
@Controller('v1')
export class ItemsController {
  constructor(@Inject(NOTIFIER_CONTEXT) private readonly notifier: NotifierContext) {}

  @ReadRoute('status', 'How far each log was read: what `items` says is as of there.')
  async status(): Promise<Status> {
    const loops = this.notifier.followed().map(({ log, partition, state, keptSeq, movedSeq, problem }) => ({
      log,
      partition,
      state,
      projectedSeq: keptSeq,
      movedSeq,
      problem,
    }));
    const { ready, detail } = this.notifier.health();
    const told = { loops, heads_signed_at: await this.notifier.headsSignedAt() };
    return {
      service: 'notifier',
      ready,
      // As its host tells it.
      detail: { ...told, in_the_way: (detail['in_the_way'] ?? null) as Trouble | null },
    };
  }

  @ReadRoute(
    'items',
    'Everything that waits for a person, the soonest deadline first: what, why, until when, and the command that ends it.',
    listQuery,
  )
  async items(
    @FromCaller() { principal }: Caller,
    @Queried(listQuery) { kind, tenant, cursor, limit = LIMIT_DEFAULT }: z.infer<typeof listQuery>,
  ): Promise<ListAnswer<ShownItem>> {
    const narrowed = { kind, tenant: tenantOfRead(principal, tenant) };
    const list = { list: 'items', ...narrowed };
    const found = await this.notifier.store.items({
      ...narrowed,
      countMax: limit + 1,
      after: readPageCursor(list, place, cursor),
    });
    const { items, more } = limitTo(found, limit);
    const last = more ? items.at(-1) : undefined;
    const now = this.notifier.now();
    return {
      items: items.map((one) => shownItem(one, now)),
      next_cursor:
        last === undefined ? null : pageCursorText(list, { deadlineAt: last.item.deadlineAt, key: keyOf(last) }),
    };
  }
}
