// The red team against a running system (D57): every attack of test/redteam is tried over public surfaces, and each must be held off.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deriveId } from '@recourse/kernel';
import { sha256Hex } from '@recourse/kernel';
import { gapsIn, tryAll } from '../redteam/attack.js';
import type { Outcome } from '../redteam/attack.js';
import { ATTACKS } from '../redteam/attacks.js';
import type { As, Stage } from '../redteam/attacks.js';
import { cli } from './guide.testing.js';
import { AGENT, rehearse } from './rehearsal.testing.js';
import type { Rehearsal } from './rehearsal.testing.js';
import { ADMINISTRATOR, executed, EXECUTIONS, INITIATOR, itemsOf, OPERATOR, TENANT, until } from './system.testing.js';
import type { Person } from './system.testing.js';

const PEOPLE: Readonly<Record<Exclude<As['who'], 'nobody'>, Person>> = {
  agent: { subject: `svc:${AGENT}`, roles: ['agent'] },
  approver: OPERATOR,
  initiator: INITIATOR,
  stranger: { subject: 'mallory', roles: [] },
  of_another_tenant: { subject: 'eve', roles: ['approver', 'operator', 'auditor'], tenant: 'other' },
};

let rehearsal: Rehearsal;
let outcomes: readonly Outcome[];
beforeAll(async () => {
  rehearsal = await rehearse();
  outcomes = await tryAll(ATTACKS, stageOf(rehearsal));
}, 500_000);
afterAll(async () => {
  await rehearsal.stop();
}, 60_000);

function stageOf({ system, refund, contradict, agree: _agree, lies, told, folder }: Rehearsal): Stage {
  const ask: Stage['ask'] = async ({ who }, side, path, body) => {
    const token = who === 'nobody' ? null : await system.token(PEOPLE[who]);
    const answer = await fetch(`${system.plan.urls[side]}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', ...(token === null ? {} : { authorization: `Bearer ${token}` }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const { code } = JSON.parse(text) as { readonly code?: unknown };
    return { status: answer.status, code: typeof code === 'string' ? code : '', text };
  };
  const waiting: Stage['waiting'] = async (order, more) => {
    const mutation = await refund(`run-${order}`, order, more);
    return { mutation, step: await contradict(`run-${order}`, order) };
  };
  return {
    ask,
    waiting,
    pretended: async (order) => {
      lies.add(order);
      const { step } = await waiting(order);
      await cli(system, OPERATOR, folder, 'recoveries', 'approve', step, '--reason', 'seen', '--yes');
      return until('the end of the step', async () => {
        const { body } = await system.get('orchestrator', `/v1/steps/${step}`);
        return ['manual', 'compensated'].includes(String(body['phase']))
          ? `${String(body['phase'])} ${String(body['reason'])}`
          : null;
      });
    },
    told: async ({ run, capability, contractOf, amountMinor }) => {
      const digest =
        contractOf === null
          ? null
          : String((await system.get('registry', `/v1/contracts/${contractOf}`)).body['digest']);
      const args = { order_id: run, amount_minor: amountMinor, currency: 'INR' };
      const contractDigest = digest === null ? null : Buffer.from(digest, 'hex');
      await system.send(
        EXECUTIONS,
        run,
        system.codecs.encode(EXECUTIONS, 'ToolExecuted', executed(run, { capability, contractDigest, args })),
      );
      const id = deriveId('mut', TENANT, run, `eff_${sha256Hex(run)}`);
      return until('what the ledger made of it', async () => {
        const parked = itemsOf(
          await system.get('ledger', '/v1/parked?log=recourse.mutations&limit=500', ADMINISTRATOR),
        );
        const found = parked.find(({ record_key }) => record_key === run);
        if (found !== undefined) return `parked ${String(found['reason'])}`;
        const { status, body } = await system.get('ledger', `/v1/mutations/${id}`);
        return status === 200
          ? `recorded ${String((body['ref'] as { reversal_class: unknown }).reversal_class)} ${String(body['reason'])}`
          : null;
      });
    },
    review: async (step) => (await cli(system, OPERATOR, folder, 'reviews', 'show', step)).out,
    outside: async () => {
      await cli(system, OPERATOR, folder, 'audit', 'dump', 'outside');
      const lines = readdirSync(join(folder, 'outside')).flatMap((file) =>
        readFileSync(join(folder, 'outside', file), 'utf8').split('\n'),
      );
      const values = lines
        .map((line) => /"value":"([^"]*)"/.exec(line)?.[1] ?? '')
        .map((value) => Buffer.from(value, 'base64').toString('latin1'));
      return [...values, ...told].join('\n');
    },
  };
}

it('leaves out no kind of attack and no surface', () => {
  expect(gapsIn(ATTACKS)).toEqual([]);
});

it.each(ATTACKS.map(({ id, tried, holds }) => [id, tried, holds]))(
  '%s: %s is answered with: %s',
  (id, _tried, holds) => {
    expect(outcomes.find((one) => one.id === id)?.seen).toBe(holds);
  },
);
