// What happens to nodes of Kafka, while what is under way. Pure.

export interface BrokerCase {
  /** Nodes that go, the leader of the first partition of the ledger's log first. Without a majority nothing is acknowledged. */
  readonly gone: 1 | 2;
  /** Killed, or told to stop, which hands its partitions over first. */
  readonly how: 'killed' | 'stopped';
  /** Effects are made, or taken back. */
  readonly during: 'forward' | 'recovery';
}

export const BROKER_CASES: readonly BrokerCase[] = ([1, 2] as const).flatMap((gone) =>
  (['killed', 'stopped'] as const).flatMap((how) =>
    (['forward', 'recovery'] as const).map((during) => ({ gone, how, during })),
  ),
);

export function nameOf({ gone, how, during }: BrokerCase): string {
  return `${gone === 1 ? 'the leader' : 'two of three'} ${how}, ${during}`;
}

export interface BrokerResult {
  readonly case: BrokerCase;
  readonly effects: number;
  /** Refused by the agent's guard, as it must be while nobody can reserve: nothing was done. */
  readonly refused: number;
  /** From the strike to the first verified compensation after it, milliseconds; 0: none came after it. */
  readonly tookMs: number;
  /** From the strike until all nodes were back, milliseconds. */
  readonly goneMs: number;
}

export function brokerTable(results: readonly BrokerResult[]): string {
  return results
    .map((result) =>
      [
        nameOf(result.case).padEnd(34),
        `${String(result.effects).padStart(5)} effects`,
        `${String(result.refused).padStart(3)} refused`,
        `gone for ${seconds(result.goneMs)} s`,
        `next verified after ${seconds(result.tookMs)} s`,
      ].join('  '),
    )
    .join('\n');
}

function seconds(ms: number): string {
  return (ms / 1_000).toFixed(1);
}
