// Says whether the auditor is alive and has read everything, for whoever runs it.
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AuditorHost } from '../auditor-host.js';

/** `/health/live`, `/health/startup` and `/health/ready`, as the services answer them. */
export function healthServer(host: Pick<AuditorHost, 'health'>): Server {
  return createServer(({ url }, response) => {
    const health = host.health();
    const isKnown = url === '/health/live' || url === '/health/startup' || url === '/health/ready';
    const isGood = url !== '/health/ready' || health.ready;
    const status = !isKnown ? 404 : isGood ? 200 : 503;
    response.writeHead(status, { 'content-type': 'application/json' }).end(isKnown ? JSON.stringify(health) : '');
  });
}
