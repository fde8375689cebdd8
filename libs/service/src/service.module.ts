// The Nest module of a service: its context, the shared controllers, and its own.
import type { DynamicModule, Provider, Type } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { TerminusModule } from '@nestjs/terminus';
import { AdministrationController } from './inbound/http/administration.controller.js';
import { AuthenticationGuard } from './inbound/http/caller.js';
import { Commands } from './inbound/http/commands.js';
import { HealthController } from './inbound/http/health.controller.js';
import { ProblemFilter } from './inbound/http/problem.filter.js';
import { Reads } from './inbound/http/reads.js';
import { SERVICE_CONTEXT } from './service-context.js';
import type { EdgeContext, ServiceContext } from './service-context.js';

const SHARED: readonly Provider[] = [
  { provide: APP_GUARD, useClass: AuthenticationGuard },
  { provide: APP_FILTER, useClass: ProblemFilter },
];

export class ServiceModule {
  /** Everything but `controllers` and what only they need is the same in every service. */
  static forService(
    context: ServiceContext,
    controllers: readonly Type[],
    providers: readonly Provider[] = [],
  ): DynamicModule {
    return {
      module: ServiceModule,
      imports: [TerminusModule.forRoot({ logger: false })],
      controllers: [HealthController, AdministrationController, ...controllers],
      providers: [{ provide: SERVICE_CONTEXT, useValue: context }, Commands, Reads, ...SHARED, ...providers],
      exports: [SERVICE_CONTEXT, Commands, Reads],
    };
  }

  /** The same edge for a program that is no service: health, metrics, authentication, problems, and its own controllers. */
  static forEdge(
    context: EdgeContext,
    controllers: readonly Type[],
    providers: readonly Provider[] = [],
  ): DynamicModule {
    return {
      module: ServiceModule,
      imports: [TerminusModule.forRoot({ logger: false })],
      controllers: [HealthController, ...controllers],
      providers: [{ provide: SERVICE_CONTEXT, useValue: context }, ...SHARED, ...providers],
    };
  }
}
