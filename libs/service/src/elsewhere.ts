// What waits for partitions that this process does not own: as their rows and the wires have it, since nobody here runs their loops.
//
// Boundary: asks database and broker when somebody asks for the status; what cannot be told in time is null.
import type { ProjectedHead, ServiceCore } from '@recourse/event-log';
import { within } from '@recourse/kafka';
import type { RawReader } from '@recourse/kafka';
import { SharedLooks } from './shared-looks.js';

export interface ElsewhereOptions {
  readonly cores: readonly Pick<ServiceCore, 'log' | 'inputs'>[];
  /** Errors: Failure(TOPIC_MISSING, BROKER_UNAVAILABLE). */
  readonly partitionCount: (topic: string) => Promise<number>;
  /** Head of the projection. Errors: Failure(DATABASE_UNAVAILABLE). */
  readonly head: (log: string, partition: number) => Promise<ProjectedHead | null>;
  /** Opens the reader at the first question. Errors: Failure(BROKER_UNAVAILABLE). */
  readonly reader: () => Promise<Pick<RawReader, 'range' | 'close'>>;
  /** Longest wait, milliseconds. Default 1,000. */
  readonly patienceMs?: number;
}

/** A partition that another process has, or nobody. */
export interface ElsewherePartition {
  readonly log: string;
  readonly partition: number;
  /** Last record in its rows. */
  readonly seq: number;
  /** When that was decided, epoch milliseconds; null without one. */
  readonly decided_at: number | null;
  /** Offsets of wires behind what its rows say was read. Those that decide nothing are said some time later. */
  readonly unread: number;
}

const PATIENCE_MS = 1_000;
const ASKED_TOGETHER = 3;

export class Elsewhere {
  #reading: ReturnType<ElsewhereOptions['reader']> | undefined;
  readonly #looks = new SharedLooks<readonly ElsewherePartition[] | null>();

  constructor(private readonly options: ElsewhereOptions) {}

  /** Partitions of the logs without those that are owned here; null where nobody can tell. Never fails. */
  but(
    owned: readonly { readonly log: string; readonly partition: number }[],
  ): Promise<readonly ElsewherePartition[] | null> {
    const here = owned.map(({ log, partition }) => `${log}/${String(partition)}`).sort();
    return this.#looks.of(here.join(), () => this.#look(new Set(here)));
  }

  /** What is asked goes by the connections of the loops: few questions at a time, and none once nobody waits. */
  async #look(here: ReadonlySet<string>): Promise<readonly ElsewherePartition[] | null> {
    const over = new AbortController();
    const patienceMs = this.options.patienceMs ?? PATIENCE_MS;
    try {
      return await within(this.#others(here, over.signal), patienceMs, 'partitions of others');
    } catch {
      await this.close();
      return null;
    } finally {
      over.abort();
    }
  }

  async close(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    await reading?.then((reader) => reader.close()).catch(() => undefined);
  }

  async #others(here: ReadonlySet<string>, over: AbortSignal): Promise<readonly ElsewherePartition[]> {
    const { cores, partitionCount } = this.options;
    const found: ElsewherePartition[] = [];
    for (const core of cores) {
      const partitions = Array.from({ length: await partitionCount(core.log) }, (_, partition) => partition);
      const others = partitions.filter((partition) => !here.has(`${core.log}/${String(partition)}`));
      for (let at = 0; at < others.length && !over.aborted; at += ASKED_TOGETHER) {
        const asked = others.slice(at, at + ASKED_TOGETHER).map((partition) => this.#told(core, partition));
        found.push(...(await Promise.all(asked)));
      }
    }
    return found;
  }

  async #told({ log, inputs }: ElsewhereOptions['cores'][number], partition: number): Promise<ElsewherePartition> {
    const head = await this.options.head(log, partition);
    const wires = inputs.filter(({ source, mode }) => source === 'wire' && mode === 'aligned');
    const unread = await Promise.all(wires.map(({ topic }) => this.#unread(topic, partition, head)));
    return {
      log,
      partition,
      seq: head?.seq ?? 0,
      decided_at: head?.decidedAt ?? null,
      unread: unread.reduce((sum, count) => sum + count, 0),
    };
  }

  async #unread(topic: string, partition: number, head: ProjectedHead | null): Promise<number> {
    this.#reading ??= this.options.reader();
    const { low, high } = await (await this.#reading).range(topic, partition);
    const cursor = head?.cursors.find((one) => one.topic === topic && one.partition === partition);
    return Math.max(0, high - Math.max(low, cursor?.offset ?? 0));
  }
}
