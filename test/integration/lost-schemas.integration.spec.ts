// A registry loses the subjects of every log and wire while the system runs: services start again, and go on.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '@recourse/kernel';
import { ALL_SCHEMAS_KNOWN } from '@recourse/service';
import { startSystem, TENANT } from './system.testing.js';
import type { System } from './system.testing.js';

const START_MS = 400_000;
const SPEC_MS = 240_000;
const SERVICES = ['contract-registry', 'mutation-ledger', 'recovery-orchestrator', 'budget-accountant'] as const;

/** Requests side by side; a cold registry takes no more. */
const AT_ONCE = 3;

let system: System;

beforeAll(async () => {
  system = await startSystem();
}, START_MS);
afterAll(() => system.stop(), SPEC_MS);

async function executed(run: string): Promise<void> {
  await system.producer.toolExecuted(
    {
      tenant: TENANT,
      runId: run,
      agentId: 'agent:planner',
      initiator: 'asha',
      objective: 'keep notes',
      stepId: 'step',
      callId: `call-${run}`,
      capability: 'notes.write',
      contractDigest: null,
      effectKey: `eff_${run}`,
      idempotencyKey: `key-${run}`,
      subjectRef: 'note/1',
      args: { text: run },
      assumptionRefs: [],
    },
    {
      outcome: 'succeeded',
      committedAt: Date.now(),
      result: null,
      priorValue: null,
      externalTransactionRef: null,
      errorKind: null,
    },
  );
}

async function recorded(run: string): Promise<number> {
  const { status, body } = await system.get('ledger', `/v1/mutations?run_id=${run}`);
  if (status !== 200) throw new Error(`the ledger answered ${String(status)}: ${JSON.stringify(body)}`);
  return Array.isArray(body['items']) ? body['items'].length : 0;
}

async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const giveUpAt = Date.now() + 60_000;
  for (;;) {
    let trouble: unknown = null;
    try {
      if (await isSo()) return;
    } catch (cause) {
      trouble = cause;
    }
    if (Date.now() > giveUpAt) throw new Error(`not within 60 s: ${what} (${String(trouble)})`);
    await systemClock.sleep(200);
  }
}

/** A service asks for what it has not met yet beside its work; its log says when it has all. */
function knowsAll(service: string): boolean {
  return readFileSync(system.processes.logFile(service), 'utf8').includes(ALL_SCHEMAS_KNOWN);
}

async function isReady(url: string): Promise<boolean> {
  return (await fetch(`${url}/health/ready`)).ok;
}

/** All subjects and their schemas, as whoever may write to the registry could. Answers how many are left. */
async function loseSubjects(): Promise<number> {
  const url = system.stack.registryUrl;
  const subjects = async (): Promise<readonly string[]> =>
    // Confluent's interface: a list of names.
    (await (await fetch(`${url}/subjects`)).json()) as readonly string[];
  const waiting = [...(await subjects())];
  const lose = async (): Promise<void> => {
    for (let subject = waiting.shift(); subject !== undefined; subject = waiting.shift())
      for (const query of ['', '?permanent=true'])
        await fetch(`${url}/subjects/${encodeURIComponent(subject)}${query}`, { method: 'DELETE' });
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lose));
  return (await subjects()).length;
}

describe('a registry that lost its subjects under a running system', () => {
  it(
    'holds up no service that is started again: it reads its log, takes what comes and appends',
    async () => {
      await executed('before');
      await until('recorded before', async () => (await recorded('before')) === 1);
      for (const name of SERVICES) await until(`${name} knows all`, () => Promise.resolve(knowsAll(name)));
      expect(await loseSubjects()).toBe(0);
      await Promise.all(SERVICES.map((name) => system.processes.kill(name, 'SIGKILL')));
      await Promise.all(SERVICES.map((name) => system.processes.restart(name)));
      const { registry, ledger, orchestrator, budget } = system.plan.urls;
      for (const url of [registry, ledger, orchestrator, budget]) await until(`${url} ready`, () => isReady(url));
      await until('still recorded', async () => (await recorded('before')) === 1);
      await executed('after');
      await until('recorded after', async () => (await recorded('after')) === 1);
    },
    SPEC_MS,
  );
});
