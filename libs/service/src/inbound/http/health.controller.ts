// Health and metrics: for machines, without a token, without ids.
import { Controller, Get, Inject, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, HealthIndicatorService } from '@nestjs/terminus';
import type { HealthCheckResult, HealthIndicatorResult } from '@nestjs/terminus';
import type { FastifyReply } from 'fastify';
import { SERVICE_CONTEXT } from '../../service-context.js';
import type { EdgeContext } from '../../service-context.js';
import { Public } from './caller.js';

@ApiExcludeController()
@Controller()
export class HealthController {
  constructor(
    @Inject(SERVICE_CONTEXT) private readonly service: EdgeContext,
    @Inject(HealthCheckService) private readonly checks: HealthCheckService,
    @Inject(HealthIndicatorService) private readonly indicators: HealthIndicatorService,
  ) {}

  /** 503 when only a restart helps. */
  @Get('health/live')
  @Public()
  @HealthCheck()
  live(): Promise<HealthCheckResult> {
    return this.check('live');
  }

  /** 503 while inputs were not read to the end, or while something is halted or unavailable. */
  @Get('health/ready')
  @Public()
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.check('ready');
  }

  @Get('health/startup')
  @Public()
  @HealthCheck()
  startup(): Promise<HealthCheckResult> {
    return this.check('started');
  }

  @Get('metrics')
  @Public()
  async metrics(@Res() reply: FastifyReply): Promise<void> {
    const { metrics, host } = this.service;
    metrics.set('isReady', {}, host.health().ready ? 1 : 0);
    void reply.type(metrics.contentType).send(await metrics.page());
  }

  private check(aspect: 'live' | 'ready' | 'started'): Promise<HealthCheckResult> {
    return this.checks.check([
      (): HealthIndicatorResult => {
        const session = this.indicators.check(this.service.definition.name);
        return this.service.host.health()[aspect] ? session.up() : session.down();
      },
    ]);
  }
}
