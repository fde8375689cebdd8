// The ways to the broker that a wave can hold: one proxy each for those whose next word has to wait.
import { startTcpProxy } from '@recourse/kafka';
import type { TcpProxy } from '@recourse/kafka';
import type { DevStack, ProcessSpec, SystemPlan } from '@recourse/dev-stack';
import { ProviderGate } from './provider-gate.js';

const LINKED = ['worker', 'recovery-orchestrator', 'mutation-ledger'] as const;
export type Linked = (typeof LINKED)[number];

/** Longest a call of the worker to the provider may be held, milliseconds: its caller gives up then. Contracts of the matrix allow as much. */
export const CALL_TIMEOUT_MS = 3_500;
/**
 * How long a worker may hold a leg, milliseconds: one that was killed is missed for its session of 6 s, and is then asked the
 * same again within the lease, having acted already or not (B18). The other crash runs have shorter leases: there the next attempt asks.
 */
const LEASE_MS = 15_000;

export class Links {
  private constructor(
    private readonly proxies: Readonly<Record<Linked, TcpProxy>>,
    readonly gate: ProviderGate,
  ) {}

  static async open(stack: DevStack): Promise<Links> {
    const proxy = (): Promise<TcpProxy> => startTcpProxy({ host: '127.0.0.1', port: stack.ports.kafka });
    const [worker, orchestrator, ledger, gate] = await Promise.all([proxy(), proxy(), proxy(), ProviderGate.open()]);
    return new Links({ worker: worker, 'recovery-orchestrator': orchestrator, 'mutation-ledger': ledger }, gate);
  }

  /** Nothing goes to or from the broker, until all go on. */
  freeze(who: Linked): void {
    this.proxies[who].setMode('freeze');
  }

  /** What it says reaches the broker, and nothing comes back, until all go on. */
  deafen(who: Linked): void {
    this.proxies[who].setMode('hold_answers');
  }

  /** Everything that was held goes on. */
  letAllGo(): void {
    for (const name of LINKED) this.proxies[name].setMode('pass');
    this.gate.letAllGo();
  }

  /** The processes of a plan with their ways through here. */
  through({ processes, urls }: SystemPlan): readonly ProcessSpec[] {
    this.gate.leadTo(urls.provider);
    return processes.map((spec) => {
      const name = LINKED.find((linked) => linked === spec.name);
      if (name === undefined) return spec;
      const { address } = this.proxies[name];
      const own =
        name === 'worker'
          ? { PROVIDER_URL: this.gate.url, CALL_TIMEOUT_MS: String(CALL_TIMEOUT_MS) }
          : { RECOURSE_LEASE_MS: String(LEASE_MS) };
      return { ...spec, env: { ...spec.env, RECOURSE_KAFKA_BROKERS: address, RECOURSE_KAFKA_VIA: address, ...own } };
    });
  }

  async close(): Promise<void> {
    await this.gate.close();
    for (const name of LINKED) await this.proxies[name].close();
  }
}
