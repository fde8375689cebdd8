// What a range of seeds did, added up; and whether it counts.
import type { RunResult } from './run.js';

/** Share of operations that must be accepted for a run to count. */
const ACCEPTED_MIN = 0.6;
/** Seeds from which on every crash point must have struck. */
const COVERED_FROM = 500;
/** Seeds of which at least one must verify a compensation. */
const GROUP = 5;

/** Faults that must strike over a range. */
const SCHEDULED = [
  'append fail',
  'append lose_ack',
  'append late',
  'append duplicate',
  'wire fail',
  'wire lose_ack',
  'wire late',
  'wire duplicate',
  'zombie',
  'freeze',
  'database rolled back',
  'database dropped',
  'clock step',
  'database fails',
  'tool slow',
  'tool timeout_before',
  'tool timeout_after',
  'tool error_before',
  'tool error_after',
  'tool error_once',
  'tool success_after_error',
  'tool phantom',
  'tool rejected',
  'tool conflict',
  'tool repeat_answered',
  'tool limited',
  'tool limited_until',
  'tool resource_changed',
  'tool verify_down',
  'consumer pause',
  'consumer leave',
  'consumer twin',
  'edge fails',
  'observer late',
  'observer twice',
  'observer silent',
  'observer unknown',
  'observer untrue',
  'worker untrue',
  'erasure',
] as const;

/** Share of a range's seeds that may go uncounted. */
const UNCOUNTED_SHARE_MAX = 0.05;

export class Tally {
  seeds = 0;
  #operations = 0;
  #accepted = 0;
  #verified = 0;
  #dependent = 0;
  #effects = 0;
  #heard = 0;
  #answered = 0;
  #records = 0;
  #steps = 0;
  #cpuMs = 0;
  #fired = new Map<string, number>();
  #withoutVerified = 0;
  #notAccepted: number[] = [];
  readonly #beganAt = performance.now();

  add(result: RunResult): void {
    this.seeds += 1;
    this.#operations += result.operations;
    this.#accepted += result.accepted;
    this.#verified += result.verified;
    this.#dependent += result.dependent;
    this.#effects += result.effects;
    this.#heard += result.heard;
    this.#answered += result.answered;
    this.#records += result.records;
    this.#steps += result.steps;
    this.#cpuMs += result.cpuMs;
    if (result.verified === 0) this.#withoutVerified += 1;
    if (result.violations.length === 0 && result.accepted < ACCEPTED_MIN * result.operations)
      this.#notAccepted.push(result.seed);
    for (const [fault, count] of Object.entries(result.fired))
      this.#fired.set(fault, (this.#fired.get(fault) ?? 0) + count);
  }

  /** Why a range does not count, if it does not. Small ranges are held to what they can show. */
  /** Seeds that do not count: too little of what they asked for was accepted. */
  get uncounted(): number {
    return this.#notAccepted.length;
  }

  shortfalls(crashPoints: readonly string[]): readonly string[] {
    const found: string[] = [];
    // A seed in which little was accepted proves little: it does not count. Many of them say that the world is wrong.
    if (this.#notAccepted.length > Math.max(1, this.seeds * UNCOUNTED_SHARE_MAX))
      found.push(`too many seeds with less than 60 % of operations accepted: ${this.#notAccepted.slice(0, 10).join()}`);
    if (this.seeds >= GROUP && this.#verified === 0) found.push('no compensation was verified');
    if (this.seeds >= GROUP && (this.#heard === 0 || this.#answered === 0))
      found.push('no consumer heard of a rollback, or none was acknowledged');
    if (this.seeds < COVERED_FROM) return found;
    if (this.#dependent === 0) found.push('no compensation took an argument from another');
    const missing = [...SCHEDULED, ...crashPoints.map((point) => `crash ${point}`)].filter(
      (fault) => !this.#fired.has(fault),
    );
    return missing.length === 0 ? found : [...found, `never struck: ${missing.join(', ')}`];
  }

  json(): Readonly<Record<string, unknown>> {
    const seconds = (performance.now() - this.#beganAt) / 1_000;
    return {
      seeds: this.seeds,
      seconds,
      seeds_per_s: this.seeds / seconds,
      operations: this.#operations,
      accepted: this.#accepted,
      verified: this.#verified,
      dependent: this.#dependent,
      effects: this.#effects,
      heard: this.#heard,
      answered: this.#answered,
      records: this.#records,
      steps: this.#steps,
      cpu_ms_per_seed: this.#cpuMs / Math.max(1, this.seeds),
      seeds_without_verified: this.#withoutVerified,
      fired: Object.fromEntries([...this.#fired].sort(([a], [b]) => (a < b ? -1 : 1))),
    };
  }

  text(): string {
    const seconds = (performance.now() - this.#beganAt) / 1_000;
    const share = this.#operations === 0 ? 0 : Math.round((100 * this.#accepted) / this.#operations);
    const fired = [...this.#fired]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([fault, count]) => `${fault} ${String(count)}`);
    return [
      `${String(this.seeds)} seeds in ${seconds.toFixed(1)} s (${(this.seeds / seconds).toFixed(2)}/s), ${String(this.#operations)} operations, ${String(share)} % accepted, ${String(this.#verified)} compensations verified, ${String(this.#dependent)} with an argument of another, ${String(this.#heard)} rollbacks heard by consumers, ${String(this.#answered)} acknowledged, ${String(this.#records)} records, ${String(this.#steps)} port calls, ${(this.#cpuMs / Math.max(1, this.seeds)).toFixed(0)} ms of processor per seed`,
      `faults: ${fired.join(', ')}`,
    ].join('\n');
  }
}
