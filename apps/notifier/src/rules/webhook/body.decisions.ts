// What a receiver reads: one set of facts, as JSON for programs or as blocks for a chat.
//
// Boundary: pure; made of a notice alone, which holds ids, codes, counts and instants. Links lead to where a person decides, with
// a login of their own: nothing in a body lets anybody decide.
import { instantText } from '@recourse/kernel';
import type { Notice, NoticeItem, Occasion } from '../delivery/delivery.messages.js';
import type { ThingKind } from '../item/item.messages.js';
import type { Shape } from './endpoint.messages.js';

/** Base addresses of the interfaces that show items, without a slash at their ends. */
export interface LinkBases {
  readonly ledger: string;
  readonly recoveries: string;
  readonly budgets: string;
  /** Where people look at items and decide; where there is none, links lead to the interfaces of the services. */
  readonly console?: string | undefined;
}

/** Body of a notice in a shape. */
export function bodyOf(shape: Shape, notice: Notice, bases: LinkBases): string {
  return JSON.stringify(shape === 'slack' ? slackBody(notice, bases) : genericBody(notice, bases));
}

const TYPE_OF = {
  opened: 'recourse.item.opened',
  reminder: 'recourse.item.reminder',
  ended: 'recourse.item.ended',
  told: 'recourse.notice',
  test: 'recourse.test',
} as const satisfies Record<Occasion, string>;

function genericBody({ occasion, occurredAt, tenant, item }: Notice, bases: LinkBases): object {
  const head = { type: TYPE_OF[occasion], occurred_at: instantText(occurredAt), tenant };
  if (item === null) return head;
  return {
    ...head,
    item_kind: item.kind,
    item_id: item.id,
    step_id: item.stepId,
    recovery_id: item.recoveryId,
    run_id: item.runId,
    capability: item.capability,
    reason: item.reason,
    owner: item.owner,
    runbook: item.runbook,
    log: item.log ?? null,
    required_approvals: item.requiredApprovals,
    deadline_at: instantText(item.deadlineAt),
    links: linksOf(item, bases),
  };
}

const HEADLINE_OF = {
  opened: 'Waits for a person',
  reminder: 'Still waits for a person',
  ended: 'Waits no more',
  told: 'For you to know',
  test: 'This endpoint works',
} as const satisfies Record<Occasion, string>;

/** Block Kit. Texts are plain where they come from a record, so that nothing in them is taken for a mention or a link. */
function slackBody({ occasion, occurredAt, tenant, item }: Notice, bases: LinkBases): object {
  const headline =
    item === null ? HEADLINE_OF[occasion] : `${HEADLINE_OF[occasion]}: ${item.kind.replaceAll('_', ' ')}`;
  const facts =
    item === null
      ? [
          ['Tenant', tenant],
          ['At', instantText(occurredAt)],
        ]
      : [
          ['Tenant', tenant],
          ['Reason', item.reason],
          item.log === undefined ? ['Capability', item.capability ?? '-'] : ['Log', item.log],
          ['Owner', item.owner],
          ...(item.runbook === null ? [] : [['Runbook', item.runbook]]),
          ['Deadline', instantText(item.deadlineAt)],
          ['Run', item.runId],
          ['Item', item.id],
          ...(item.requiredApprovals > 0 ? [['Approvals asked for', String(item.requiredApprovals)]] : []),
        ];
  const url = item === null ? null : linksOf(item, bases).item;
  // Slack refuses a message whole for one address that is too long: the facts come without a button, and name the item.
  const buttons =
    url === null || url.length > ADDRESS_MAX
      ? []
      : [{ type: 'actions', elements: [{ type: 'button', text: plain('Open the item'), url }] }];
  return {
    text: headline,
    blocks: [
      { type: 'header', text: plain(headline) },
      { type: 'section', fields: facts.map(([name, value]) => plain(`${name ?? ''}: ${value ?? ''}`)) },
      ...buttons,
    ],
  };
}

/** Longest text Slack takes in a field, and longest address of a button, characters. Source: reference of Block Kit. */
const FIELD_MAX = 2_000;
const ADDRESS_MAX = 3_000;

function plain(text: string): object {
  return { type: 'plain_text', text: text.slice(0, FIELD_MAX).toWellFormed(), emoji: false };
}

const PATH_OF = {
  step: ({ id }) => `/v1/reviews/${encodeURIComponent(id)}`,
  rollback: ({ runId }) => `/v1/rollbacks?run_id=${encodeURIComponent(runId)}`,
  task: ({ id }) => `/v1/tasks/${encodeURIComponent(id)}`,
  incident: ({ id }) => `/v1/incidents/${encodeURIComponent(id)}`,
  breaker: () => '/v1/breakers',
  forward: ({ id }) => `/v1/forward-approvals/${encodeURIComponent(id)}`,
  mutation: ({ id }) => `/v1/mutations/${encodeURIComponent(id)}`,
  delivery: ({ runId }) => `/v1/deliveries?phase=overdue&run_id=${encodeURIComponent(runId)}`,
  runtime: () => '/v1/reconciliations/divergences',
  trend: () => '/v1/trends',
  // An alarm is looked at with the command line; no interface shows more of it than the item.
  alarm: () => '',
  // Nor does one know, of a parked record, which service's it is.
  parked: () => '',
  // And what a version of a contract would be the registry shows, which has no address here.
  proposal: () => '',
  autonomy: ({ id }) => `/v1/autonomy/${encodeURIComponent(id)}`,
  ceiling: ({ runId }) =>
    runId === '' ? '/v1/budgets' : `/v1/budgets?scope=run&scope_id=${encodeURIComponent(runId)}`,
  escalation: ({ runId }) => `/v1/escalations?run_id=${encodeURIComponent(runId)}`,
} as const satisfies Record<ThingKind, (item: NoticeItem) => string>;

/** Whose edge shows a thing. */
const BASE_OF = {
  step: 'recoveries',
  rollback: 'ledger',
  task: 'recoveries',
  incident: 'recoveries',
  breaker: 'ledger',
  forward: 'recoveries',
  mutation: 'ledger',
  delivery: 'ledger',
  runtime: 'ledger',
  trend: 'ledger',
  alarm: 'ledger',
  parked: 'ledger',
  proposal: 'ledger',
  autonomy: 'budgets',
  ceiling: 'budgets',
  escalation: 'budgets',
} as const satisfies Record<ThingKind, Exclude<keyof LinkBases, 'console'>>;

interface Links {
  readonly item: string;
  readonly run: string;
}

function linksOf(item: NoticeItem, bases: LinkBases): Links {
  if (bases.console !== undefined) return screensOf(item, bases.console);
  return {
    item: `${bases[BASE_OF[item.thing]]}${PATH_OF[item.thing](item)}`,
    run: `${bases.recoveries}/v1/recoveries?run_id=${encodeURIComponent(item.runId)}`,
  };
}

/** Screens of things that have one of their own; the others are shown as items. */
const SCREENS: Partial<Record<ThingKind, (item: NoticeItem) => string>> = {
  step: ({ id }) => `/reviews/${encodeURIComponent(id)}`,
  autonomy: ({ id }) => `/autonomy/${encodeURIComponent(id)}`,
  parked: () => '/audit',
  ceiling: () => '/exposure',
  proposal: () => '/contracts',
};

/** Addresses of the console. Its search is JSON, so that a run of a name such as `true` stays a name. */
function screensOf(item: NoticeItem, console: string): Links {
  const { thing, kind, id, runId } = item;
  const run = runId === '' ? '' : `?run=${encodeURIComponent(JSON.stringify(runId))}`;
  const path = SCREENS[thing]?.(item) ?? `/items/${kind}/${encodeURIComponent(id)}${run}`;
  return { item: `${console}${path}`, run: `${console}/runs/${segmentOf(runId)}` };
}

/** A browser follows dots alone: the console has them, and what would be taken for that, behind a tilde. */
function segmentOf(name: string): string {
  return encodeURIComponent(/^~*\.{1,2}$/.test(name) ? `~${name}` : name);
}
