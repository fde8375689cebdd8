// A fleet on one ceiling: eight processes ask for a thousand debits at once, wave after wave, while the accountant is killed again
// and again (P8).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { OwnLog } from '@recourse/event-log';
import type { AcceptedRecord } from '@recourse/event-log';
import { createKafka } from '@recourse/kafka';
import { deriveId } from '@recourse/kernel';
import { PARTITIONS, startSystem, TENANT, until } from './system.testing.js';
import type { Person, System } from './system.testing.js';

const ACCOUNTANT = 'budget-accountant';
const LOG = 'recourse.budgets';
const CALLERS = 8;
/** Of one process in one wave. */
const DEBITS = 125;
const WAVES = 4;
const ALL = CALLERS * DEBITS * WAVES;
const AMOUNT = 100;
const FITTING = (ALL * 3) / 5;
const CEILING = FITTING * AMOUNT;
const OWNER: Person = { subject: 'omar', roles: ['budget_owner'] };
const AGENT: Person = { subject: 'agent:payer', roles: ['agent'] };

interface Answer {
  readonly runId: string;
  readonly effectKey: string;
  readonly kind: string;
  readonly tries: number;
}

let system: System;
const answers: Answer[] = [];

beforeAll(async () => {
  system = await startSystem();
  const ceiling = { scope: 'tenant', scope_id: TENANT, currency: 'INR', ceiling_minor: CEILING };
  const { status, body } = await system.post('budget', '/v1/budgets', ceiling, { person: OWNER, key: 'ceiling' });
  if (status !== 201) throw new Error(JSON.stringify(body));
  const token = await system.token(AGENT);
  const callers = Array.from({ length: CALLERS }, (_, at) => call(`run-${String(at)}`, token));
  await killAndStart(callers);
  await Promise.all(callers.map(({ ended }) => ended));
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

interface Caller {
  readonly letWave: () => void;
  readonly letEnd: () => void;
  /** Once each of its debits was answered. */
  readonly ended: Promise<void>;
}

/** One process of the fleet. */
function call(runId: string, token: string): Caller {
  const entry = fileURLToPath(new URL('fleet-caller.main.ts', import.meta.url));
  const told = {
    url: system.plan.urls.budget,
    token,
    tenant: TENANT,
    runId,
    debits: DEBITS,
    amountMinor: AMOUNT,
  };
  const child = spawn(process.execPath, [entry, JSON.stringify(told)], { stdio: ['pipe', 'pipe', 'inherit'] });
  createInterface({ input: child.stdout }).on('line', (line) => answers.push(JSON.parse(line) as Answer)); // as the caller prints it
  const ended = new Promise<void>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve();
      else reject(new Error(`a caller ended with ${String(code)}`));
    });
  });
  return { letWave: () => child.stdin.write('\n'), letEnd: () => child.stdin.end(), ended };
}

/** A wave in each life of the accountant, which is killed at the first answers that come then; the last life answers what is left. */
async function killAndStart(callers: readonly Caller[]): Promise<void> {
  for (let wave = 0; wave < WAVES; wave += 1) {
    const before = answers.length;
    for (const caller of callers) caller.letWave();
    while (answers.length === before)
      await new Promise((resolve) => {
        setTimeout(resolve, 1);
      });
    await system.processes.kill(ACCOUNTANT, 'SIGKILL');
    await system.processes.start(ACCOUNTANT);
  }
  for (const caller of callers) caller.letEnd();
}

/** Accepted records of the log, partition by partition, as every reader takes them. */
async function accepted(): Promise<readonly AcceptedRecord[]> {
  const { plan, stack, codecs } = system;
  const kafka = createKafka({ brokers: [...stack.kafka.brokers], clientId: 'fleet' });
  const all: AcceptedRecord[] = [];
  for (let partition = 0; partition < PARTITIONS; partition += 1) {
    const options = { kafka, codecs, topic: LOG, partition, partitionCount: PARTITIONS, logId: plan.logId };
    const log = new OwnLog(options);
    await log.prepare();
    for await (const records of log.read(log.origin())) all.push(...records);
    await log.close();
  }
  return all;
}

const idOf = ({ runId, effectKey }: Answer): string => deriveId('res', TENANT, runId, effectKey);
const idsOf = (records: readonly AcceptedRecord[], type: string): readonly string[] =>
  records.filter((record) => record.type === type).map(({ body }) => String(body['reservation_id']));

describe('a fleet on one ceiling, whose accountant is killed again and again', () => {
  it('is answered, each caller and each debit once (P8)', () => {
    expect(new Set(answers.map(idOf)).size).toBe(ALL);
    expect(answers).toHaveLength(ALL);
    expect(answers.some(({ tries }) => tries > 1)).toBe(true);
  });

  it('reserves exactly what fits, in the log and in every prefix of it, and asks people about the rest (P8)', async () => {
    const records = await accepted();
    const reserved = idsOf(records, 'BudgetReserved');
    const escalated = idsOf(records, 'BudgetEscalated');
    expect([reserved.length, new Set(reserved).size]).toEqual([FITTING, FITTING]);
    expect([escalated.length, new Set(escalated).size]).toEqual([ALL - FITTING, escalated.length]);
    // All of one tenant lie on one partition, in their order: each reservation adds its amount, so the count is the prefix sum.
    expect(reserved.length * AMOUNT).toBeLessThanOrEqual(CEILING);
  });

  it('was told of each debit what the log says of it (P8)', async () => {
    const records = await accepted();
    const of = (kind: string): readonly string[] => answers.filter((one) => one.kind === kind).map(idOf);
    expect([...of('reserved')].sort()).toEqual([...idsOf(records, 'BudgetReserved')].sort());
    expect([...of('escalated')].sort()).toEqual([...idsOf(records, 'BudgetEscalated')].sort());
  });

  it('shows the ceiling as used to its end', async () => {
    await until('the budget of the tenant', async () => {
      const { body } = await system.get('budget', '/v1/budgets?scope=tenant', OWNER);
      const [budget] = (body['items'] ?? []) as readonly { readonly used_minor: number }[]; // as lists answer
      return budget?.used_minor === CEILING ? budget : null;
    });
  });
});
