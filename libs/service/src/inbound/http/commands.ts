// From a request to a command and back, for controllers.
import { Inject, Injectable } from '@nestjs/common';
import type { Doc } from '@recourse/event-log';
import type { CommandEnvelope } from '@recourse/messages';
import { seesAllTenants, tenantOfCommand } from '../../edge/principal.js';
import { ALL_TENANTS } from '../../edge/roles.js';
import type { EdgeAnswer } from '../../edge/command-edge.js';
import { SERVICE_CONTEXT } from '../../service-context.js';
import type { ServiceContext } from '../../service-context.js';
import type { Caller } from './caller.js';

export interface CommandCall {
  /** Full record name. */
  readonly type: string;
  /** Record key; a function where the tenant is the key. */
  readonly key: string | ((tenant: string) => string);
  /** As the caller named it; undefined takes that of the token. */
  readonly tenant?: string | undefined;
  /** True where the command may be about all tenants at once (administration, contracts for all). */
  readonly mayBeForAll?: boolean;
  /** Log of the answer; the service's command log when absent. */
  readonly log?: string;
  /** What the caller asked for. */
  readonly body: unknown;
  readonly build: (envelope: CommandEnvelope) => Doc;
}

@Injectable()
export class Commands {
  constructor(@Inject(SERVICE_CONTEXT) private readonly service: ServiceContext) {}

  /** Submits and answers. Errors: those of CommandEdge.submit and tenantOfCommand. */
  async submit(
    caller: Caller,
    { type, key, tenant: named, mayBeForAll = false, log, body, build }: CommandCall,
  ): Promise<void> {
    const { definition, edge, metrics } = this.service;
    const isForAll = mayBeForAll && named === ALL_TENANTS && seesAllTenants(caller.principal);
    const tenant = isForAll ? ALL_TENANTS : tenantOfCommand(caller.principal, named);
    const began = performance.now();
    const answer = await edge.submit({
      topic: definition.commandTopic,
      log: log ?? definition.commandLog,
      type,
      key: typeof key === 'string' ? key : key(tenant),
      principal: caller.principal,
      tenant,
      route: caller.route,
      idempotencyKey: caller.idempotencyKey,
      body,
      build,
    });
    metrics.observe(
      'commandSeconds',
      { route: caller.routePattern, outcome: String(answer.httpStatus) },
      (performance.now() - began) / 1_000,
    );
    send(caller, answer);
  }
}

/** Sends the stored text as it is. */
export function send({ reply }: Pick<Caller, 'reply'>, { httpStatus, body, location, retryAfterS }: EdgeAnswer): void {
  if (location !== undefined) void reply.header('location', location);
  if (retryAfterS !== undefined) void reply.header('retry-after', String(retryAfterS));
  void reply.status(httpStatus).type('application/json').send(body);
}
