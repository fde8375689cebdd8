// A look now and then at what no loop looks at: at the database for a process that owns no partition, since it answers reads.
import { Failure } from '@recourse/kernel';
import type { ServiceHealth } from './running-service.js';

export interface PulseOptions {
  /** Errors: a Failure, which is in the way until a look finds nothing. */
  readonly ping: () => Promise<void>;
  /** Nobody else of this process looks. */
  readonly isIdle: () => boolean;
  /** Between two looks, milliseconds. Default 2,000, as a loop at rest. */
  readonly everyMs?: number;
}

const EVERY_MS = 2_000;

export class Pulse {
  private trouble: Failure | null = null;
  private looking: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly options: PulseOptions) {}

  start(): void {
    this.timer = setInterval(() => void this.beat(), this.options.everyMs ?? EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    if (this.timer !== null) clearInterval(this.timer);
    await this.looking;
  }

  /** Looks once; never fails. */
  beat(): Promise<void> {
    return (this.looking ??= this.look().finally(() => {
      this.looking = null;
    }));
  }

  /** The health of what runs, as far as its database answers. */
  over(health: ServiceHealth): ServiceHealth {
    if (this.trouble === null || !this.options.isIdle()) return health;
    const { code, detail } = this.trouble;
    return { ...health, ready: false, detail: { ...health.detail, in_the_way: { code, detail } } };
  }

  private async look(): Promise<void> {
    if (!this.options.isIdle()) {
      this.trouble = null;
      return;
    }
    try {
      await this.options.ping();
      this.trouble = null;
    } catch (cause) {
      this.trouble = cause instanceof Failure ? cause : new Failure('DATABASE_UNAVAILABLE', 'ping', { cause });
    }
  }
}
