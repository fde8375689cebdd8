// Acting calls of one worker that have not come back, so that none is made beside them (C43).
import type { LegRequested, LegStep } from '@recourse/messages';

/** Acting calls that have not come back, by tenant and key: one that was given up may still be running. */
export class CallsUnderWay {
  private readonly keys = new Set<string>();

  /** True while a call under the key of this step is running. */
  has(leg: LegRequested, step: LegStep): boolean {
    return this.keys.has(keyOf(leg, step));
  }

  /** Notes a call until it has come back, however late. */
  async during<Answer>(leg: LegRequested, step: LegStep, call: Promise<Answer>): Promise<Answer> {
    const key = keyOf(leg, step);
    this.keys.add(key);
    try {
      return await call;
    } finally {
      this.keys.delete(key);
    }
  }
}

function keyOf({ tenant }: LegRequested, { call: { adapter_id, idempotency_key } }: LegStep): string {
  return JSON.stringify([tenant, adapter_id, idempotency_key]);
}
