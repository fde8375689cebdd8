// Environment of the console's server.
import { integer, oneOf, optional, passwordFile, port, text, url } from '@recourse/config';
import type { ConfigOf } from '@recourse/config';

const HTTP = { protocols: ['http:', 'https:'] } as const;

export const CONFIG = {
  httpHost: text('RECOURSE_HTTP_HOST', { doc: 'Address the console listens on.', fallback: '127.0.0.1' }),
  httpPort: port('RECOURSE_HTTP_PORT', { doc: 'Port the console listens on.' }),
  publicUrl: url('RECOURSE_CONSOLE_URL', {
    doc: 'Address of the console as browsers reach it; the issuer sends people back there. With `https:` cookies are secure.',
    ...HTTP,
  }),
  issuer: text('RECOURSE_JWT_ISSUER', { doc: 'The only issuer that signs people in.' }),
  discoveryUrl: url('RECOURSE_OIDC_DISCOVERY_URL', {
    doc: 'Where the issuer says what it offers: its `/.well-known/openid-configuration`.',
    ...HTTP,
  }),
  clientId: text('RECOURSE_OIDC_CLIENT_ID', {
    doc: 'Name of the console at the issuer.',
    fallback: 'recourse-console',
  }),
  clientSecret: optional(
    passwordFile('RECOURSE_OIDC_CLIENT_SECRET_FILE', { doc: 'Secret of the console at the issuer, where it has one.' }),
  ),
  scope: text('RECOURSE_OIDC_SCOPE', { doc: 'What the issuer is asked for.', fallback: 'openid' }),
  sessionMs: integer('RECOURSE_CONSOLE_SESSION_MS', {
    doc: 'Longest life of a session; it ends with its token if that is sooner.',
    min: 60_000,
    max: 86_400_000,
    unit: 'milliseconds',
    fallback: '28800000',
  }),
  contractsUrl: url('RECOURSE_CONTRACTS_URL', { doc: 'Contract registry.', ...HTTP }),
  ledgerUrl: url('RECOURSE_LEDGER_URL', { doc: 'Mutation ledger.', ...HTTP }),
  recoveriesUrl: url('RECOURSE_RECOVERIES_URL', { doc: 'Recovery orchestrator.', ...HTTP }),
  budgetUrl: url('RECOURSE_BUDGET_URL', { doc: 'Budget accountant.', ...HTTP }),
  notifierUrl: url('RECOURSE_NOTIFIER_URL', { doc: 'Notifier.', ...HTTP }),
  drillsFile: optional(
    text('RECOURSE_CONSOLE_DRILLS_FILE', {
      doc: 'File that `recourse drill --out` writes; whoever signs in with a role, of whichever tenant, sees the last drills in it. Default: none are shown.',
    }),
  ),
  logLevel: oneOf('RECOURSE_LOG_LEVEL', ['debug', 'info', 'warn', 'error', 'silent'], {
    doc: 'Least severe level that is logged.',
    fallback: 'info',
  }),
} as const;

export type ConsoleConfig = ConfigOf<typeof CONFIG>;
