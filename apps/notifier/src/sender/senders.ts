// Who sends to the endpoints of the file, and counts how that goes.
import type { Logger, Metrics } from '@recourse/telemetry';
import type { NotifierConfig } from '../config.js';
import type { NotifierOptions } from '../notifier.js';
import type { NotifierStore } from '../store/notifier-store.port.js';
import { EndpointSender } from './endpoint-sender.js';
import type { SenderOptions } from './endpoint-sender.js';
import { sendWebhook } from './webhook.http.js';

export interface SendingParts {
  readonly config: NotifierConfig;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** One sender for each endpoint of the file. */
export function sendersOf(parts: SendingParts, store: NotifierStore): NotifierOptions['senders'] {
  const { config } = parts;
  const shared = {
    store,
    send: sendWebhook,
    policy: { backoff: { baseMs: config.retryBaseMs, maxMs: config.retryMaxMs }, giveUpMs: config.giveUpMs },
    bases: {
      ledger: withoutSlash(config.ledgerUrl),
      recoveries: withoutSlash(config.recoveriesUrl),
      budgets: withoutSlash(config.budgetUrl),
      console: config.consoleUrl === undefined ? undefined : withoutSlash(config.consoleUrl),
    },
    timeoutMs: config.timeoutMs,
    now: Date.now,
    onAttempt: tellAttempt(parts),
  };
  return config.endpoints.map((endpoint) => ({
    name: endpoint.name,
    sender: new EndpointSender({ endpoint, ...shared }),
  }));
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

/** Counts attempts, and says when a receiver is gone. */
function tellAttempt({ metrics, logger }: SendingParts): NonNullable<SenderOptions['onAttempt']> {
  return (endpoint, { error, closesEndpoint }) => {
    if (error === null) metrics.count('webhooksDelivered', { endpoint });
    else metrics.count('webhookAttemptsFailed', { endpoint, code: error.code });
    if (closesEndpoint)
      logger.error({ endpoint }, 'the receiver is gone: the endpoint is off until an operator turns it on');
  };
}
