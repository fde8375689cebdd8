// Environment of the notifier.
import { integer, optional, url } from '@recourse/config';
import type { ConfigOf } from '@recourse/config';
import { EDGE_CONFIG } from '@recourse/service';
import { endpointsFile } from './endpoints.config.js';

const HTTP = { protocols: ['http:', 'https:'] } as const;
const MS = { unit: 'milliseconds' } as const;

export const CONFIG = {
  ...EDGE_CONFIG,
  endpoints: endpointsFile('RECOURSE_WEBHOOKS_FILE', {
    doc: 'Endpoints that are told what waits for a person, with their secrets.',
  }),
  ledgerUrl: url('RECOURSE_LEDGER_URL', {
    doc: 'Address of the mutation ledger, as people reach it: links lead there.',
    ...HTTP,
  }),
  recoveriesUrl: url('RECOURSE_RECOVERIES_URL', {
    doc: 'Address of the recovery orchestrator, as people reach it: links lead there.',
    ...HTTP,
  }),
  budgetUrl: url('RECOURSE_BUDGET_URL', {
    doc: 'Address of the budget accountant, as people reach it: links lead there.',
    ...HTTP,
  }),
  consoleUrl: optional(
    url('RECOURSE_CONSOLE_URL', {
      doc: 'Address of the console, as browsers reach it: where it is set, links lead there, and to no service.',
      ...HTTP,
    }),
  ),
  timeoutMs: integer('RECOURSE_WEBHOOK_TIMEOUT_MS', {
    doc: 'Longest a receiver may take to answer.',
    min: 100,
    max: 60_000,
    ...MS,
    fallback: '10000',
  }),
  retryBaseMs: integer('RECOURSE_WEBHOOK_RETRY_BASE_MS', {
    doc: 'Wait before a second attempt; doubles with each.',
    min: 10,
    max: 600_000,
    ...MS,
    fallback: '5000',
  }),
  retryMaxMs: integer('RECOURSE_WEBHOOK_RETRY_MAX_MS', {
    doc: 'Longest wait between two attempts.',
    min: 10,
    max: 86_400_000,
    ...MS,
    fallback: '3600000',
  }),
  giveUpMs: integer('RECOURSE_WEBHOOK_GIVE_UP_MS', {
    doc: 'How long a delivery is retried before it is given up.',
    min: 1_000,
    max: 30 * 86_400_000,
    ...MS,
    fallback: '259200000',
  }),
  keepMs: integer('RECOURSE_WEBHOOK_KEEP_MS', {
    doc: 'How long finished deliveries are listed.',
    min: 60_000,
    max: 400 * 86_400_000,
    ...MS,
    fallback: '2592000000',
  }),
} as const;

export type NotifierConfig = ConfigOf<typeof CONFIG>;
