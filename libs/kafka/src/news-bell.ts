// Waits for news of many partitions with one long poll, for those who read each of them their own way.
//
// Boundary: reads nothing for anybody. Who hears it looks for itself, and may find nothing; where the broker cannot be asked it is
// heard at once, so that those who read meet the trouble themselves.
import type { Kafka, RawReader, ReadPosition } from './kafka.port.js';

export interface NewsBellOptions {
  readonly kafka: Pick<Kafka, 'rawReader'>;
  /** From where each partition is read next. */
  readonly positions: () => readonly ReadPosition[];
  /** It is heard at the latest after so many milliseconds. */
  readonly waitMs: number;
}

/** The least that is asked for: what comes is thrown away. */
const BYTES = 1;

export class NewsBell {
  private listening: Promise<void> | null = null;
  /** Its own: a long poll holds its connection. */
  private reader: RawReader | null = null;

  constructor(private readonly options: NewsBellOptions) {}

  /** Resolves when a partition has a record at its position or behind it, or time is up. Any number may listen; one request is made. */
  heard(): Promise<void> {
    return (this.listening ??= this.listen().finally(() => {
      this.listening = null;
    }));
  }

  async close(): Promise<void> {
    await this.reader?.close();
  }

  private async listen(): Promise<void> {
    const { kafka, positions, waitMs } = this.options;
    try {
      this.reader ??= await kafka.rawReader();
      await this.reader.readMany(positions(), { waitMs, maxBytes: BYTES });
    } catch {
      // A lost tail, a missing topic, a broker that is away: told by the one who reads there.
    }
  }
}
