// Says whether the auditor is alive and has read everything, and who of its witnesses signs, for whoever runs it.
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { Metrics } from '@recourse/telemetry';
import type { AuditorHealth, AuditorHost } from '../auditor-host.js';
import { arriving } from './arriving.js';

type Told = Pick<Metrics, 'set' | 'page' | 'contentType'>;

/** `/health/live`, `/health/startup`, `/health/ready` and `/metrics`, as the services answer them. */
export function healthServer(host: Pick<AuditorHost, 'health'>, metrics: Told, arriveWithinMs?: number): Server {
  return createServer(arriving(arriveWithinMs), ({ url }, response) => {
    const health = host.health();
    if (url === '/metrics') {
      void tellMetrics(health, metrics, response);
      return;
    }
    const isKnown = url === '/health/live' || url === '/health/startup' || url === '/health/ready';
    const isGood = url !== '/health/ready' || health.ready;
    const status = !isKnown ? 404 : isGood ? 200 : 503;
    response.writeHead(status, { 'content-type': 'application/json' }).end(isKnown ? JSON.stringify(health) : '');
  });
}

async function tellMetrics(
  { ready, witnesses }: AuditorHealth,
  metrics: Told,
  response: ServerResponse,
): Promise<void> {
  metrics.set('isReady', {}, ready ? 1 : 0);
  for (const [witness, seconds] of Object.entries(witnesses)) metrics.set('witnessSilent', { witness }, seconds);
  response.writeHead(200, { 'content-type': metrics.contentType }).end(await metrics.page());
}
