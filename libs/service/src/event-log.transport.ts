// Nest's side of the loop: a custom transport strategy, so that a service is an ordinary hybrid application.
//
// Nest's own transports hand over one message at a time; here `listen` starts the loop and `close` stops it, and no
// message passes through Nest.
import { Server } from '@nestjs/microservices';
import type { CustomTransportStrategy } from '@nestjs/microservices';

/** What is started and stopped. */
export interface Startable {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export class EventLogTransport extends Server implements CustomTransportStrategy {
  constructor(private readonly service: Startable) {
    super();
  }

  listen(callback: (error?: unknown) => void): void {
    this.service.start().then(
      () => {
        callback();
      },
      (error: unknown) => {
        callback(error);
      },
    );
  }

  close(): Promise<void> {
    return this.service.stop();
  }

  /** The loop tells its events to metrics and logs, not to listeners. */
  on(): void {
    /* no events */
  }

  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the signature is Nest's
  unwrap<T>(): T {
    // Nest's signature lets the caller name the type; there is one thing to unwrap.
    return this.service as T;
  }
}
