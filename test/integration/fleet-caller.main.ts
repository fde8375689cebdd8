// Debits of one agent's process: all of a wave asked for at once over the SDK, each until it has an answer.
//
// Shape: one argument, JSON; each line of its input lets a wave go, whether the one before was answered or not; it ends with its input. Prints a line of JSON for each answer as it comes: the effect, what became of it, and how often it was asked.
import { createInterface } from 'node:readline';
import { HttpBudget } from '@recourse/sdk';

interface Told {
  readonly url: string;
  readonly token: string;
  readonly tenant: string;
  readonly runId: string;
  /** Of each wave. */
  readonly debits: number;
  readonly amountMinor: number;
}

/** Pauses are not in step: a thousand who ask again at the same moment are one more outage. */
const PAUSE_MS = 250;
const PAUSES = 8;
/** An answer is waited for as long as the service may take. */
const TIMEOUT_MS = 20_000;
const { url, token, tenant, runId, debits, amountMinor } = JSON.parse(process.argv[2] ?? '{}') as Told; // written by the spec that starts it
const budget = new HttpBudget({ url, token: () => Promise.resolve(token), timeoutMs: TIMEOUT_MS });

async function debit(at: number): Promise<void> {
  const effectKey = `pay-${String(at)}`;
  for (let tries = 1; ; tries += 1) {
    const answer = await budget.reserve({
      tenant,
      runId,
      effectKey,
      capability: 'wire.send_money',
      agentId: null,
      initiator: null,
      objective: 'pay the invoices of May',
      values: [{ amount_minor: amountMinor, currency: 'INR' }],
      subjectRef: `invoice/${runId}/${effectKey}`,
      reach: null,
    });
    if (answer.kind !== 'unavailable') {
      process.stdout.write(`${JSON.stringify({ runId, effectKey, kind: answer.kind, tries })}\n`);
      return;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, PAUSE_MS * (1 + ((at + tries) % PAUSES)));
    });
  }
}

const waiting: Promise<unknown>[] = [];
for await (const _line of createInterface({ input: process.stdin })) {
  const wave = waiting.length;
  waiting.push(Promise.all(Array.from({ length: debits }, (_, at) => debit(wave * debits + at))));
}
await Promise.all(waiting);
