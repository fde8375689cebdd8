// approval: from the yes of a person to the effect that is undone and verified.
//
// Ours: an effect whose contract asks a person is to be undone and waits at their desk; they agree over HTTP, a worker takes it back and
// looks, and the verdict is read from the log. One at a time, everything idle. Raw: one record from a process to another, in turns.
import { tokenFrom } from '@recourse/example-drifted-refund';
import { mutationId } from '@recourse/sdk';
import { say } from './bench-stack.js';
import { openEcho } from './echo.js';
import type { Echo } from './echo.js';
import { hopTimes } from './hop-times.js';
import type { WayStep } from './hop-times.js';
import { ASKED_CONTRACTS, putExecution, TENANT } from './recovery-actions.js';
import { withRecoverySystem } from './recovery-system.js';
import type { RecoverySystem } from './recovery-system.js';
import type { Measured } from './report.js';
import { median, percentile } from './rounds.js';
import { idle, until, within } from './waits.js';
import { sharedClockMs } from './worker-process.js';

const ECHO_TOPIC = 'bench.approval';
/** What every input consumer of ours waits at the broker, milliseconds. */
const MAX_WAIT_MS = 100;
const WARM_UPS = 10;
const PATIENCE_MS = 30_000;
const POLL_MS = 20;
/** Somebody other than who asked for the undo. */
const APPROVER = { subject: 'mira', roles: ['approver', 'operator'], tenant: TENANT };

export interface ApprovalSize {
  readonly samples: number;
}
export const APPROVAL_FULL: ApprovalSize = { samples: 300 };
export const APPROVAL_QUICK: ApprovalSize = { samples: 30 };

/** Records between a person's yes and the verdict. */
const WAY: readonly WayStep[] = [
  { topic: 'recourse.recovery-commands', type: 'ApproveStep', field: 'run_id' },
  { topic: 'recourse.recoveries', type: 'StepApproved', field: 'run_id' },
  { topic: 'recourse.recoveries', type: 'LegDispatched', field: 'run_id' },
  { topic: 'recourse.tool-requests.bench', type: 'LegRequested', field: 'run_id' },
  { topic: 'recourse.tool-results', type: 'LegReported', field: 'run_id' },
  { topic: 'recourse.recoveries', type: 'LegSettled', field: 'run_id' },
];

/** One approval: milliseconds from the request's first octet to the verdict that was read, and to the edge's answer. */
interface Took {
  readonly verifiedMs: number;
  readonly answeredMs: number;
}

export async function benchApproval({ samples }: ApprovalSize): Promise<Measured> {
  return withRecoverySystem(async (system) => {
    const echo = await openEcho(system.bench, ECHO_TOPIC, MAX_WAIT_MS);
    try {
      return await measure(new Desk(system, await tokenFrom(system.plan.urls.issuer, APPROVER)), echo, samples);
    } finally {
      await echo.close();
    }
  }, ASKED_CONTRACTS);
}

async function measure(desk: Desk, echo: Echo, samples: number): Promise<Measured> {
  await desk.stand(['warm', WARM_UPS], ['asked', samples]);
  for (let index = 0; index < WARM_UPS; index += 1) {
    await desk.approve(await desk.waiting(`warm_${String(index)}`));
    await echo.hop();
  }
  const ours: Took[] = [];
  const raw: number[] = [];
  for (let index = 0; index < samples; index += 1) {
    if (index % 30 === 0) say(`sample ${String(index + 1)} of ${String(samples)}`);
    const item = await desk.waiting(`asked_${String(index)}`);
    await idle(index);
    ours.push(await desk.approve(item));
    await idle(index);
    raw.push(await echo.hop());
  }
  const isSample = /^asked_\d+$/;
  const times = await hopTimes(desk.system.bench, (name) => (isSample.test(name) ? name : null), WAY);
  return measuredOf({ ours, raw, times, gates: await desk.gates() });
}

/** An effect that waits for a person. */
interface Item {
  readonly run: string;
  readonly stepId: string;
  readonly digest: string;
}

/** Where the person agrees, and what must be true of all they agreed to. */
class Desk {
  readonly #approved: string[] = [];

  constructor(
    readonly system: RecoverySystem,
    private readonly token: string,
  ) {}

  /** Makes runs of one effect, so many under each name. */
  async stand(...groups: readonly (readonly [string, number])[]): Promise<void> {
    const runs = groups.flatMap(([name, count]) => Array.from({ length: count }, (_, n) => `${name}_${String(n)}`));
    const now = Date.now();
    await this.system.stand(runs.length, (index) =>
      putExecution({ run: runs[index] ?? '', index: 0 }, this.system.digest, now + index),
    );
  }

  /** Has the run undone; resolves when its effect waits for a person. */
  async waiting(run: string): Promise<Item> {
    await this.system.undo(run);
    const found: Item[] = [];
    await until(
      `review of ${run}`,
      async () => {
        const { items } = await this.asked('GET', `/v1/reviews?run_id=${run}`);
        const [item] = Array.isArray(items) ? (items as readonly Readonly<Record<string, unknown>>[]) : []; // rows are objects
        // What the person sees stands in the item before anybody may agree to it.
        if (item?.['phase'] !== 'awaiting_approval' || item['facts'] === null) return false;
        found.push({ run, stepId: String(item['step_id']), digest: String(item['action_digest']) });
        return true;
      },
      { withinMs: PATIENCE_MS, pollMs: POLL_MS },
    );
    const [item] = found;
    if (item === undefined) throw new Error(`${run} waits for nobody`);
    return item;
  }

  async approve({ run, stepId, digest }: Item): Promise<Took> {
    const ended = this.system.tail.ended(run, 1);
    const sentAt = sharedClockMs();
    const answered = this.asked('POST', `/v1/steps/${stepId}/approve`, {
      action_digest: digest,
      reason: 'nobody needs the thing',
    }).then(sharedClockMs);
    const [answeredAt, endedAt] = await Promise.all([
      answered,
      within(ended, `the outcome of ${run}`, { withinMs: PATIENCE_MS }),
    ]);
    this.#approved.push(run);
    return { verifiedMs: endedAt - sentAt, answeredMs: answeredAt - sentAt };
  }

  async gates(): Promise<Readonly<Record<string, boolean>>> {
    const taken = await this.system.taken();
    const things = this.#approved.map((run) => `${run}/0`);
    return {
      approval_every_effect_taken_back_once:
        taken.length === things.length && taken.toSorted().join() === things.toSorted().join(),
      approval_every_outcome_verified: this.#approved.every((run) => {
        const { outcomes, verdicts } = this.system.tail.outcomesOf(run);
        const { effect_key } = putExecution({ run, index: 0 }, Buffer.alloc(0), 0);
        return outcomes.join() === mutationId(TENANT, run, effect_key) && verdicts.join() === 'compensated';
      }),
    };
  }

  private async asked(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(`${this.system.plan.urls.orchestrator}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'idempotency-key': path }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (!response.ok) throw new Error(`${path} was answered ${String(response.status)} ${JSON.stringify(answer)}`);
    return answer as Readonly<Record<string, unknown>>; // every answer of ours is an object
  }
}

interface Outcome {
  readonly ours: readonly Took[];
  readonly raw: readonly number[];
  readonly times: readonly { readonly hop: string; readonly ms: number }[];
  readonly gates: Readonly<Record<string, boolean>>;
}

function measuredOf({ ours, raw, times, gates }: Outcome): Measured {
  const [verified, answered] = [ours.map(({ verifiedMs }) => verifiedMs), ours.map(({ answeredMs }) => answeredMs)];
  return {
    figures: {
      approval_p50_ms: median(verified),
      approval_p99_ms: percentile(verified, 0.99),
      approval_answered_p50_ms: median(answered),
      approval_hop_p50_ms: median(raw),
    },
    ratios: { approval_vs_hop_p50: median(verified) / median(raw) },
    counts: { approval_samples: ours.length },
    gates,
    notes: [
      'approval: four services, worker, issuer, broker, registry, PostgreSQL and the bench share the cores, all idle but for the one effect',
      '  from record to record, median:',
      ...times.map(({ hop, ms }) => `    ${hop.padEnd(44)} ${ms.toFixed(0).padStart(4)} ms`),
    ],
  };
}
