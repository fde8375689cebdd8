// Metrics of the notifier: notices on their way, and when the logs that it follows were signed.

export const NOTIFIER_METRICS = {
  webhooksDelivered: {
    name: 'recourse_webhooks_delivered_total',
    kind: 'counter',
    help: 'Notices a receiver took, by endpoint.',
    labels: ['endpoint'],
  },
  webhookAttemptsFailed: {
    name: 'recourse_webhook_attempts_failed_total',
    kind: 'counter',
    help: 'Attempts to deliver a notice that did not, by endpoint and code.',
    labels: ['endpoint', 'code'],
  },
  webhookOldestSeconds: {
    name: 'recourse_webhook_oldest_seconds',
    kind: 'gauge',
    help: 'Age of the oldest notice that is due and not delivered, by endpoint; 0 without one.',
    labels: ['endpoint'],
  },
  webhooksGivenUp: {
    name: 'recourse_webhooks_given_up',
    kind: 'gauge',
    help: 'Notices that were tried long enough and did not arrive, by endpoint; until they are retried, or forgotten.',
    labels: ['endpoint'],
  },
  webhookEndpointOff: {
    name: 'recourse_webhook_endpoint_off',
    kind: 'gauge',
    help: '1 for an endpoint whose receiver said that it is gone, until an operator turns it on.',
    labels: ['endpoint'],
  },
  alarmsOpen: {
    name: 'recourse_alarms_open',
    kind: 'gauge',
    help: 'Alarms of the auditor that nobody has closed, by the log or wire and its partition; absent without one.',
    labels: ['log', 'partition'],
  },
  signedHeadAge: {
    name: 'recourse_signed_head_age_seconds',
    kind: 'gauge',
    help: 'Time since the auditor last signed a log or wire, by partition, as its log tells the notifier; absent where it has not lately, and while nobody can say.',
    labels: ['log', 'partition'],
  },
} as const;
