// Refund reports: made from refunds of agents, shown to customers, withdrawn when a refund in them is rolled back.
//
// Boundary: rules over rows; every change is part of the transaction that it is given. A report is a commit of this service's
// own: it is made from refunds, and falls with any of them.
import { deriveId } from '@recourse/kernel';
import type { BarrierOutcome, HeardRollback, OwnRecord } from '@recourse/sdk';

/** A refund of an agent, as the report names it. */
export interface Refund {
  readonly runId: string;
  readonly mutationId: string;
  readonly amountMinor: number;
}

/** A report as it stands. */
export interface Report {
  readonly id: string;
  readonly customer: string;
  readonly amountMinor: number;
  readonly state: 'draft' | 'published' | 'withdrawn';
}

/** Where reports are kept; each call is part of the transaction. */
export interface ReportRows<Tx> {
  put(tx: Tx, report: Report): Promise<void>;
  find(tx: Tx, id: string): Promise<Report | null>;
  withdraw(tx: Tx, ids: readonly string[]): Promise<void>;
}

/** The run that reports of this service are commits of. */
const OWN_RUN = 'refund-reports';

/** What came of an attempt to show a report to its customer. */
export type Published = 'published' | 'fallen' | 'not_known';

/** The consumer that reports are made with: one of Recourse's SDK. */
interface Consumer<Tx> {
  transact<T>(work: (tx: Tx, own: OwnRecord) => Promise<T>): Promise<T>;
  barrier(
    deadlineMs: number,
    commit?: { readonly run_id: string; readonly commit_id: string },
  ): Promise<BarrierOutcome>;
}

/** Makes, shows and withdraws reports. */
export class RefundReports<Tx> {
  constructor(
    private readonly rows: ReportRows<Tx>,
    private readonly now: () => number = Date.now,
  ) {}

  /** Makes a report from refunds; null where one of them was rolled back. */
  async make(consumer: Consumer<Tx>, customer: string, refunds: readonly Refund[]): Promise<Report | null> {
    const id = deriveId('report', customer, ...refunds.map(({ mutationId }) => mutationId));
    const report: Report = {
      id,
      customer,
      amountMinor: refunds.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
      state: 'draft',
    };
    return consumer.transact(async (tx, own) => {
      const stands = await own.derive({
        commit: refOf(id),
        parents: refunds.map(({ runId, mutationId }) => ({ run_id: runId, commit_id: mutationId })),
      });
      if (!stands) return null;
      await this.rows.put(tx, report);
      return report;
    });
  }

  /** Shows a report to its customer, if nothing that was announced by now speaks against it. Units: `withinMs` is how long the customer waits. */
  async publish(consumer: Consumer<Tx>, id: string, withinMs: number): Promise<Published> {
    const outcome = await consumer.barrier(withinMs, refOf(id));
    if (outcome.kind === 'timeout') return 'not_known';
    if (outcome.kind === 'fallen') return 'fallen';
    return consumer.transact(async (tx, own) => {
      const report = await this.rows.find(tx, id);
      if (report === null || !(await own.emitted(refOf(id), { kind: 'report', ref: id, emitted_at: this.now() })))
        return 'fallen';
      await this.rows.put(tx, { ...report, state: 'published' });
      return 'published';
    });
  }

  /** Withdraws what was made from a refund that was rolled back: handler of the consumer. */
  withdraw({ derived }: Pick<HeardRollback, 'derived'>, tx: Tx): Promise<void> {
    return this.rows.withdraw(
      tx,
      derived.map(({ commit_id }) => commit_id),
    );
  }
}

function refOf(id: string): { readonly run_id: string; readonly commit_id: string } {
  return { run_id: OWN_RUN, commit_id: id };
}
