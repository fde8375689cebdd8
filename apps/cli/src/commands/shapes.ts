// The shapes most commands have: a list, a report, one thing, a command with a reason. Each ends a commander command.
import type { Doc, Listed, Query } from '@recourse/sdk';
import type { Command } from 'commander';
import type { Service } from '../config.js';
import { docsOf, formatFields } from '../output/table.js';
import type { Column } from '../output/table.js';
import type { Session } from '../session.js';
import { IDEMPOTENCY_KEY, LIMIT, REPORT_LIMIT } from './options.js';
import type { Act } from './options.js';
import { listSoonest, soonestText } from './soonest.js';

/** What a person says with a command, and how it is repeated safely. */
export interface Why {
  readonly reason: string;
  readonly idempotencyKey?: string;
}

interface Limited {
  readonly limit: number;
}

/** A line about how many rows there are for what was asked; null where there is nothing to say. */
type Note<Options> = (count: number, options: Options) => string | null;

interface ListAction<Options> {
  readonly service: Service;
  readonly path: string;
  readonly query?: (options: Options) => Query;
  readonly columns: readonly Column<Doc>[];
  /** Member in epoch milliseconds by which it is ordered, the earliest of all first; as the service gives it unless told. */
  readonly by?: string;
  /** It only grows: a page is ordered by itself, and says so where there are others. */
  readonly grows?: boolean;
  readonly text?: (listed: Listed) => string;
  /** Where only all rows together tell what each is: all are read, and what this leaves is shown. */
  readonly among?: (all: readonly Doc[], options: Options) => readonly Doc[];
  /** Said beside it to people. */
  readonly note?: Note<Options>;
}

interface ReportAction<Options> {
  readonly service: Service;
  readonly path: string;
  /** Names the tenant itself where it is not a parameter of its own. */
  readonly query?: (options: Options, tenant: string | null) => Query;
  readonly text: (report: Doc) => string;
  /** Said beside it to people. */
  readonly note?: Note<Options>;
}

interface ShowAction {
  readonly service: Service;
  readonly path: (id: string) => string;
  /** `now`: epoch milliseconds, for the time that is left. */
  readonly text: (found: Doc, now: number) => string;
}

interface SendAction<Options> {
  readonly service: Service;
  readonly path: (id: string) => string;
  /** What goes beside the reason. */
  readonly body?: (options: Options) => object;
}

/** Path of one thing, and of what is done with it. */
export function pathBelow(base: string): (id: string, verb?: string) => string {
  return (id, verb) => `${base}/${encodeURIComponent(id)}${verb === undefined ? '' : `/${verb}`}`;
}

/** Ends a command that lists things of a service. */
export function addListAction<Options extends object>(
  command: Command,
  act: Act,
  { service, path, query, columns, by, grows = false, text, note, among }: ListAction<Options>,
): void {
  command.addOption(LIMIT()).action(
    act<Options & Limited>(async (session, options) => {
      const asked = { ...query?.(options), tenant: session.tenant };
      const from = session.service(service);
      const { limit } = options;
      const read = await (by === undefined
        ? from.list(path, asked, among === undefined ? limit : AMONG_MAX)
        : listSoonest(from, path, asked, { by, limit, grows }));
      const listed = among === undefined ? read : cut(among(read.items, options), limit, read.more);
      session.show(listed, () => text?.(listed) ?? soonestText(columns, listed));
      noteTo(session, note?.(listed.items.length, options));
    }),
  );
}

/** Rows that are read to tell what each is. */
const AMONG_MAX = 10_000;

function cut(items: readonly Doc[], limit: number, isMore: boolean): Listed {
  return { items: items.slice(0, limit), more: isMore || items.length > limit };
}

function noteTo({ isJson, terminal }: Session, line: string | null | undefined): void {
  if (!isJson && line !== null && line !== undefined) terminal.note(line);
}

/** Ends a command that shows a report of a service: one answer, with as many rows as are asked for. */
export function addReportAction<Options extends object>(
  command: Command,
  act: Act,
  { service, path, query, text, note }: ReportAction<Options>,
): void {
  command.addOption(REPORT_LIMIT()).action(
    act<Options & Limited>(async (session, options) => {
      const { tenant = session.tenant, ...asked } = query?.(options, session.tenant) ?? {};
      const limit = String(options.limit);
      const report = await session.service(service).get(path, { ...asked, tenant, limit });
      session.show(report, () => text(report));
      noteTo(session, note?.(docsOf(report['items']).length, options));
    }),
  );
}

/** Ends a command that shows one thing, named by its only argument. */
export function addShowAction(command: Command, act: Act, { service, path, text }: ShowAction): void {
  command.action(
    act(async (session, _options, id = '') => {
      // Who speaks for all tenants names the one that is meant, where several have a thing of that id.
      const found = await session.service(service).get(path(id), { tenant: session.tenant });
      session.show(found, () => text(found, session.clock.now()));
    }),
  );
}

/** Ends a command that has a service do something to one thing, for a reason, and shows what came of it. */
export function addSendAction<Options extends object>(
  command: Command,
  act: Act,
  { service, path, body }: SendAction<Options>,
): void {
  command
    .requiredOption('--reason <text>', 'why, in your words')
    .addOption(IDEMPOTENCY_KEY())
    .action(
      act<Options & Why>(async (session, options, id = '') => {
        const { reason, idempotencyKey } = options;
        const answer = await session.service(service).command(path(id), { ...body?.(options), reason }, idempotencyKey);
        session.show(answer, () => formatFields(Object.entries(answer)));
      }),
    );
}
