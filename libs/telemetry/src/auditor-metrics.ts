// Metrics of the auditor beside its heads, which the notifier tells of.

export const AUDITOR_METRICS = {
  witnessSilent: {
    name: 'recourse_witness_silent_seconds',
    kind: 'gauge',
    help: 'For how long the auditor has asked a witness in vain to sign heads, by witness; 0 for one that signs what it is asked for.',
    labels: ['witness'],
  },
} as const;
