// Where the runs take place: one stack, and the system on it with a proxy between services and broker.
//
// Invariants
//   I1. What was killed is started again before anything else is killed.
//   I2. A process that ends without having been killed here is a failure, and is started again.
import { join } from 'node:path';
import { planSystem, processName, SERVICES, startProcesses } from '@recourse/dev-stack';
import type { DevStack, Processes, ProcessSpec, SystemPlan } from '@recourse/dev-stack';
import { startTcpProxy } from '@recourse/kafka';
import type { TcpProxy } from '@recourse/kafka';
import { Edge, pause } from './edge.js';
import type { Side } from './edge.js';
import type { Disturbance, Target } from './targets.js';

export const PARTITIONS = 2;
const SESSION_TIMEOUT_MS = 4_000;
/** A machine that carries other work starts processes slowly; the runs wait rather than call that a failure. */
const READY_WITHIN_MS = 180_000;
/** What one disturbance lasts: longer than the log producers' patience would be a stop, not a fault. */
const DISTURBED_MS = 2_500;
const DELAY_MS = 150;

export interface ArenaOptions {
  readonly instances: number;
  readonly dataDir: string;
  readonly onTrouble: (what: string) => void;
  readonly withExample?: boolean;
  /** Adapters that get a request topic, beside those of the example. */
  readonly adapters?: readonly string[];
  /** Last word on what is started: other ways to the broker, for instance. */
  readonly reroute?: (plan: SystemPlan) => readonly ProcessSpec[];
}

export class Arena {
  private constructor(
    readonly stack: DevStack,
    readonly plan: SystemPlan,
    readonly processes: Processes,
    readonly proxy: TcpProxy,
    readonly edge: Edge,
    readonly instances: number,
  ) {}

  static async open(stack: DevStack, options: ArenaOptions): Promise<Arena> {
    const {
      instances,
      dataDir,
      onTrouble,
      withExample = true,
      adapters = [],
      reroute = ({ processes: planned }: SystemPlan): readonly ProcessSpec[] => planned,
    } = options;
    const proxy = await startTcpProxy({ host: '127.0.0.1', port: stack.ports.kafka });
    // A proxy stands for one broker: several are reached straight.
    const isLone = stack.kafka.brokers.length === 1;
    const plan = await planSystem(stack, {
      dataDir,
      instances,
      withExample,
      adapters,
      partitions: PARTITIONS,
      ...(isLone ? { serviceBrokers: [proxy.address] } : {}),
      serviceEnv: {
        ...(isLone ? { RECOURSE_KAFKA_VIA: proxy.address } : {}),
        RECOURSE_KAFKA_SESSION_TIMEOUT_MS: String(SESSION_TIMEOUT_MS),
        RECOURSE_LOG_LEVEL: 'warn',
      },
    });
    const logDir = join(dataDir, 'logs');
    const patient = plan.processes.map((spec) => ({ ...spec, readyWithinMs: READY_WITHIN_MS }));
    const processes = await startProcesses(reroute({ ...plan, processes: patient }), {
      logDir,
      book: stack.book,
      onExit: (name, how) => {
        onTrouble(`${name} ended by itself: ${how}`);
        void processes.start(name).catch((cause: unknown) => {
          onTrouble(String(cause));
        });
      },
    });
    return new Arena(stack, plan, processes, proxy, new Edge(addressesOf(plan)), instances);
  }

  /** kill -9, or the beginning of a disturbance; resolves when it has happened. `dice` is a number from 0 up to 1. */
  async kill(target: Target, dice: number, disturbance: Disturbance): Promise<string> {
    if (target === 'network') return this.disturb(disturbance);
    if (target === 'kafka' || target === 'postgres') {
      await this.stack.kill(target, 'SIGKILL');
      return target;
    }
    const index = target === 'worker' ? 0 : Math.floor(dice * this.instances);
    const name = processName(target, index);
    await this.processes.kill(name, 'SIGKILL');
    return name;
  }

  /** Starts again what was killed; resolves when it is ready. */
  async revive(name: string): Promise<void> {
    if (name.startsWith('network')) return this.calm();
    if (name === 'kafka' || name === 'postgres') await this.stack.start(name);
    else await this.processes.start(name);
  }

  async close(): Promise<void> {
    await this.processes.stop();
    await this.proxy.close();
  }

  private disturb(disturbance: Disturbance): string {
    if (disturbance === 'delay') this.proxy.setDelay(DELAY_MS);
    else this.proxy.setMode(disturbance);
    return `network: ${disturbance}`;
  }

  private async calm(): Promise<void> {
    await pause(DISTURBED_MS);
    this.proxy.setDelay(0);
    this.proxy.setMode('pass');
  }
}

/** Addresses of every side; of services, those of all instances. */
function addressesOf({ urls, processes }: SystemPlan): Readonly<Record<Side, readonly string[]>> {
  const instancesOf = (service: string): readonly string[] =>
    processes
      .filter(({ name }) => name === service || name.startsWith(`${service}-`))
      .map(({ env }) => `http://127.0.0.1:${env?.['RECOURSE_HTTP_PORT'] ?? '0'}`);
  const [registry = [], ledger = [], orchestrator = [], budget = []] = SERVICES.map(instancesOf);
  return {
    registry,
    ledger,
    orchestrator,
    budget,
    issuer: [urls.issuer],
    provider: [urls.provider],
    warehouse: [urls.warehouse],
    agent: [urls.agent],
    loyalty: [urls.loyalty],
  };
}
