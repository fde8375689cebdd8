// Values of the orchestrator's series, put into the metrics of its process.
import type { Metrics } from '@recourse/telemetry';
import type { RecoveryMeasure } from '../core/measures.js';

export function countMeasures(measures: readonly RecoveryMeasure[], metrics: Pick<Metrics, 'count' | 'observe'>): void {
  for (const measure of measures) countOne(measure, metrics);
}

function countOne(measure: RecoveryMeasure, metrics: Pick<Metrics, 'count' | 'observe'>): void {
  switch (measure.series) {
    case 'recoverySeconds':
      metrics.observe(measure.series, { tool: measure.tool }, measure.seconds);
      return;
    case 'approvalSeconds':
      metrics.observe(measure.series, { question: measure.question, outcome: measure.outcome }, measure.seconds);
      return;
    case 'compensationFailures':
      metrics.count(measure.series, { tool: measure.tool, reason: measure.reason });
      return;
    case 'recoveriesAutomatic':
    case 'recoveriesManual':
    case 'staleConflicts':
      metrics.count(measure.series, { tool: measure.tool });
  }
}
