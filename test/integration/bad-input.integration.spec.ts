// What comes in wrong gets a coded answer, is kept, and holds up nothing but its own key (P2, P13; L7, L12, L14, L15).
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contractBody, contractDigest } from '@recourse/contract';
import { CONTRACTS, ISSUE_INSTANT_REFUND, ISSUE_REFUND, REFUND_POLICY } from '@recourse/example-drifted-refund';
import { partitionForKey } from '@recourse/kafka';
import type { ToolExecuted } from '@recourse/messages';
import { isSubject } from '@recourse/kernel';
import { HOSTILE_STRINGS } from '@recourse/testing';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnsecuredJWT, SignJWT } from 'jose';
import {
  ADMINISTRATOR,
  ASSUMPTIONS,
  EDITOR,
  executed,
  EXECUTIONS,
  INITIATOR,
  itemsOf,
  OPERATOR,
  runOn,
  startSystem,
  TENANT,
  until,
  PARTITIONS,
} from './system.testing.js';
import type { Facts, System } from './system.testing.js';

const HOME = 0;
const NUL = '\u0000';
const LONG = 'x'.repeat(10 * 1_024);
const DAY_MS = 86_400_000;

let system: System;

beforeAll(async () => {
  system = await startSystem();
  const policy = { person: EDITOR, key: REFUND_POLICY.name };
  expect((await system.post('registry', '/v1/entries/policy_bundle', REFUND_POLICY, policy)).status).toBe(201);
  for (const contract of CONTRACTS) {
    const { status } = await system.post('registry', '/v1/contracts', contract, { person: EDITOR, key: contract.name });
    expect(status).toBeLessThan(300);
  }
}, 400_000);
afterAll(async () => {
  await system.stop();
}, 60_000);

/** The registry counts versions from 1 and names the owner; both are part of what the digest is of. */
const digestAs = (contract: (typeof CONTRACTS)[number]): Buffer =>
  contractDigest(contractBody({ ...contract, tenant: TENANT, version: 1 }));

const digestOf = (name: string): Buffer => {
  const contract = CONTRACTS.find((one) => one.name === name);
  if (contract === undefined) throw new Error(`no contract ${name}`);
  return digestAs(contract);
};
const framed = (body: ToolExecuted): Buffer => system.codecs.encode(EXECUTIONS, 'ToolExecuted', body);

async function mutationOf(runId: string): Promise<Facts | null> {
  return itemsOf(await system.get('ledger', `/v1/mutations?run_id=${encodeURIComponent(runId)}`))[0] ?? null;
}

async function recorded(runId: string): Promise<Facts> {
  return until(`the mutation of ${runId}`, () => mutationOf(runId));
}

async function openParked(log = 'recourse.mutations'): Promise<readonly Facts[]> {
  return itemsOf(await system.get('ledger', `/v1/parked?log=${log}&limit=500`, ADMINISTRATOR));
}

async function parkedWith(reason: string, fits: (item: Facts) => boolean = () => true, log?: string): Promise<Facts> {
  return until(
    `a record parked for ${reason}`,
    async () => (await openParked(log)).find((item) => item['reason'] === reason && fits(item)) ?? null,
  );
}

async function resolve(
  item: Facts,
  verb: 'redrive' | 'discard',
  log = 'recourse.mutations',
): Promise<{ readonly status: number; readonly body: Facts }> {
  return system.post(
    'ledger',
    `/v1/parked/${String(item['parked_id'])}/${verb}`,
    { reason: 'seen by the spec', log },
    { person: ADMINISTRATOR },
  );
}

/** A later record of another key on the same partition is taken. */
async function othersGoOn(partition = HOME): Promise<void> {
  const other = runOn(partition, 'good');
  await system.send(EXECUTIONS, other, framed(executed(other)));
  expect((await recorded(other))['execution_state']).toBe('succeeded');
}

interface BadRecord {
  readonly what: string;
  readonly reason: string;
  readonly key?: string;
  readonly value: (run: string) => Buffer;
  readonly redrive: string;
}

const BAD: readonly BadRecord[] = [
  {
    what: 'bytes without a frame',
    reason: 'UNFRAMED',
    value: () => Buffer.from('no record at all'),
    redrive: 'STILL_UNREADABLE',
  },
  {
    what: 'a schema id nobody registered',
    reason: 'UNKNOWN_SCHEMA',
    value: () => Buffer.from([0, 0x77, 0x35, 0x94, 0x00, 1, 2, 3]),
    redrive: 'STILL_UNREADABLE',
  },
  {
    what: 'Avro that ends too early',
    reason: 'TRUNCATED',
    value: (run) => framed(executed(run)).subarray(0, 60),
    redrive: 'STILL_UNREADABLE',
  },
  {
    what: 'a record of 2 MB',
    reason: 'RECORD_TOO_LARGE',
    value: (run) => framed(executed(run, { args: { order: 'x'.repeat(2 * 1_024 * 1_024) } })),
    redrive: 'PARKED_TRUNCATED',
  },
  {
    what: 'NUL in an identifier',
    reason: 'NUL_IN_TEXT',
    value: (run) => framed(executed(run, { stepId: `re${NUL}fund` })),
    redrive: 'NUL_IN_TEXT',
  },
  {
    what: 'an identifier of 10 KB',
    reason: 'TEXT_TOO_LONG',
    value: (run) => framed(executed(run, { callId: LONG })),
    redrive: 'TEXT_TOO_LONG',
  },
  {
    what: 'a contract digest nobody registered',
    reason: 'CONTRACT_UNKNOWN',
    value: (run) => framed(executed(run, { contractDigest: Buffer.alloc(32, 7) })),
    redrive: 'CONTRACT_UNKNOWN',
  },
  {
    what: 'a digest of another capability',
    reason: 'CONTRACT_MISMATCH',
    value: (run) => framed(executed(run, { contractDigest: digestOf(ISSUE_INSTANT_REFUND) })),
    redrive: 'CONTRACT_MISMATCH',
  },
  {
    what: 'a key that is not the run',
    reason: 'KEY_MISMATCH',
    value: () => framed(executed('somebody-else')),
    redrive: 'KEY_MISMATCH',
  },
];

describe('a bad record on a wire', () => {
  it.each(BAD)(
    'is parked for $what, and other keys go on',
    async ({ reason, value, redrive }) => {
      const run = runOn(HOME, 'bad');
      await system.send(EXECUTIONS, run, value(run));
      await othersGoOn();
      const item = await parkedWith(reason, ({ record_key }) => record_key === run);
      expect(item).toMatchObject({ topic: EXECUTIONS, partition: HOME, reason, open: true });
      expect(await resolve(item, 'redrive')).toMatchObject({ status: 409, body: { code: redrive } });
      expect(await resolve(item, 'discard')).toMatchObject({ status: 200 });
      expect((await openParked()).map(({ parked_id }) => parked_id)).not.toContain(item['parked_id']);
    },
    60_000,
  );

  it.each([
    { what: 'NUL', reason: 'NUL_IN_TEXT', word: `nul${NUL}` },
    { what: '10 KB', reason: 'KEY_TOO_LONG', word: LONG },
  ])(
    'is parked for a key with $what under the hash of that key',
    async ({ reason, word }) => {
      const run = runOn(HOME, word);
      await system.send(EXECUTIONS, run, framed(executed(run)));
      await othersGoOn();
      const item = await parkedWith(reason, ({ record_key }) => String(record_key).startsWith('sha256:'));
      expect(await resolve(item, 'discard')).toMatchObject({ status: 200 });
    },
    60_000,
  );

  it('holds up later records of its key, which are taken in order once it is discarded', async () => {
    const run = runOn(HOME, 'queue');
    await system.send(EXECUTIONS, run, Buffer.from('noise'));
    await system.send(EXECUTIONS, run, framed(executed(run)));
    const behind = await parkedWith('BEHIND', ({ record_key }) => record_key === run);
    expect(await mutationOf(run)).toBeNull();
    expect(await resolve(behind, 'redrive')).toMatchObject({ status: 409, body: { code: 'PARKED_BEHIND' } });
    expect(
      await resolve(await parkedWith('UNFRAMED', ({ record_key }) => record_key === run), 'discard'),
    ).toMatchObject({ status: 200, body: { redriven: 1 } });
    expect((await recorded(run))['execution_state']).toBe('succeeded');
  }, 60_000);

  it('is taken after all when the contract it names is registered and somebody redrives it', async () => {
    const contract = CONTRACTS.find(({ name }) => name === ISSUE_REFUND);
    if (contract === undefined) throw new Error('the example has no refund');
    const late = { ...contract, name: 'payments.late_refund' };
    const digest = digestAs(late);
    const run = runOn(HOME, 'late');
    await system.send(EXECUTIONS, run, framed(executed(run, { capability: late.name, contractDigest: digest })));
    const item = await parkedWith('CONTRACT_UNKNOWN', ({ record_key }) => record_key === run);
    expect((await system.post('registry', '/v1/contracts', late, { person: EDITOR })).status).toBeLessThan(300);
    await until('the redrive', async () => ((await resolve(item, 'redrive')).status === 200 ? true : null));
    expect((await recorded(run))['recoverability']).toBe('reversal_available');
  }, 60_000);

  it('goes to its own partition when it lay on a foreign one, and nobody has to do anything', async () => {
    const run = runOn(1, 'foreign');
    await system.send(EXECUTIONS, run, framed(executed(run)), HOME);
    expect((await recorded(run))['run_id']).toBe(run);
    expect((await openParked()).filter(({ record_key }) => record_key === run)).toEqual([]);
    await othersGoOn();
  }, 60_000);

  it('is parked and can be discarded in the log of assumptions too', async () => {
    const ref = 'order/1#noise';
    const partition = partitionForKey(Buffer.from(ref), PARTITIONS);
    await system.send(ASSUMPTIONS, ref, Buffer.from('noise'));
    const item = await parkedWith('UNFRAMED', ({ record_key }) => record_key === ref, 'recourse.assumptions');
    expect(item['partition']).toBe(partition);
    expect(await resolve(item, 'discard', 'recourse.assumptions')).toMatchObject({ status: 200 });
  }, 60_000);

  it('is no matter for who is no administrator of all tenants', async () => {
    expect(await system.get('ledger', '/v1/parked', OPERATOR)).toMatchObject({
      status: 403,
      body: { code: 'ROLE_REQUIRED' },
    });
  });
});

describe('an odd execution that is no error', () => {
  it.each([
    { what: 'NUL', order: `47${NUL}11` },
    { what: '10 KB', order: LONG },
  ])(
    'may hold $what in its arguments, in the one that names the subject too',
    async ({ order }) => {
      const run = runOn(HOME, 'odd');
      const args = { order, amount_minor: 1, currency: 'INR' };
      await system.send(EXECUTIONS, run, framed(executed(run, { contractDigest: digestOf(ISSUE_REFUND), args })));
      const mutation = await recorded(run);
      expect(mutation).toMatchObject({ recoverability: 'reversal_available', execution: { subject_ref: order } });
      await othersGoOn();
    },
    60_000,
  );

  it('is a conflict on record when it says something else about a known effect, and the first one stands', async () => {
    const run = runOn(HOME, 'twice');
    const first = executed(run);
    await system.send(EXECUTIONS, run, framed(first));
    const before = await recorded(run);
    await system.send(EXECUTIONS, run, framed(first));
    await system.send(EXECUTIONS, run, framed(executed(run, {}, { externalTransactionRef: 'another' })));
    const after = await until('the conflict', async () => {
      const found = await mutationOf(run);
      return found !== null && found['conflict_sha256'] !== null ? found : null;
    });
    expect(after).toMatchObject({
      mutation_id: before['mutation_id'],
      executed_sha256: before['executed_sha256'],
      ref: before['ref'],
    });
    await othersGoOn();
  }, 60_000);

  it('of 1970 has its window behind it', async () => {
    const run = runOn(HOME, 'old');
    await system.send(
      EXECUTIONS,
      run,
      framed(executed(run, { contractDigest: digestOf(ISSUE_REFUND) }, { committedAt: 0 })),
    );
    expect(await recorded(run)).toMatchObject({ recoverability: 'reversal_expired', ref: { committed_at: 0 } });
    await othersGoOn();
  }, 60_000);

  it('of 2100 has a window that begins when it was recorded', async () => {
    const run = runOn(HOME, 'future');
    await system.send(
      EXECUTIONS,
      run,
      framed(executed(run, { contractDigest: digestOf(ISSUE_REFUND) }, { committedAt: Date.UTC(2100, 0, 1) })),
    );
    const mutation = await recorded(run);
    expect(mutation['recoverability']).toBe('reversal_available');
    expect(Number(mutation['expires_at'])).toBeLessThan(Date.now() + DAY_MS);
    await othersGoOn();
  }, 60_000);
});

describe('an approval', () => {
  let step: Facts;
  const approve = (
    body: { readonly action_digest: string },
    more: { readonly person?: typeof OPERATOR; readonly token?: string; readonly key?: string } = {},
    of: Facts = step,
  ): ReturnType<System['post']> =>
    system.post(
      'orchestrator',
      `/v1/steps/${String(of['step_id'])}/approve`,
      { reason: 'the goods are on their way', ...body },
      more,
    );
  const digest = (of: Facts = step): { readonly action_digest: string } => ({
    action_digest: String(of['action_digest']),
  });

  async function reviewItem(capability: string): Promise<Facts> {
    const run = runOn(HOME, 'case');
    const ref = `order/${run}#not_shipped`;
    await system.producer.assumptionDeclared({
      tenant: TENANT,
      ref,
      statement: { shipped: false },
      statedAt: Date.now() - 1_000,
    });
    await system.send(
      EXECUTIONS,
      run,
      framed(executed(run, { capability, contractDigest: digestOf(capability), assumptionRefs: [ref] })),
    );
    await recorded(run);
    await system.producer.assumptionInvalidated({
      tenant: TENANT,
      ref,
      statement: { shipped: true },
      statedAt: Date.now(),
      sourceKind: 'observation',
    });
    return until(
      'the review item',
      async () => itemsOf(await system.get('orchestrator', `/v1/reviews?run_id=${run}`))[0] ?? null,
    );
  }

  beforeAll(async () => {
    step = await reviewItem(ISSUE_REFUND);
  }, 60_000);

  it('by the initiator is refused', async () => {
    expect(await approve(digest(), { person: INITIATOR })).toMatchObject({
      status: 403,
      body: { code: 'SELF_APPROVAL' },
    });
  });

  it('of another digest is refused', async () => {
    expect(await approve({ action_digest: 'ab'.repeat(32) })).toMatchObject({
      status: 409,
      body: { code: 'DIGEST_MISMATCH' },
    });
  });

  it('with a token of another audience is refused', async () => {
    const token = await system.forgeToken(OPERATOR, 'somebody-else');
    expect(await approve(digest(), { token })).toMatchObject({ status: 401, body: { code: 'TOKEN_REFUSED' } });
  });

  it('with an unsigned token, or one signed with a shared secret, is refused', async () => {
    const claims = { tenant: TENANT, roles: [...OPERATOR.roles] };
    const unsigned = new UnsecuredJWT(claims)
      .setIssuer('https://issuer.recourse.test')
      .setAudience('recourse')
      .setSubject(OPERATOR.subject)
      .setExpirationTime('1h')
      .encode();
    const shared = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('https://issuer.recourse.test')
      .setAudience('recourse')
      .setSubject(OPERATOR.subject)
      .setExpirationTime('1h')
      .sign(Buffer.alloc(32, 1));
    for (const token of [unsigned, shared])
      expect(await approve(digest(), { token })).toMatchObject({ status: 401, body: { code: 'TOKEN_REFUSED' } });
  });

  it('counts once: the same request has the same answer, a second one is refused', async () => {
    const key = `approve-${String(step['step_id'])}`;
    const first = await approve(digest(), { key });
    expect(first.status).toBe(200);
    expect(await approve(digest(), { key })).toEqual(first);
    expect(await approve({ action_digest: 'cd'.repeat(32) }, { key })).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    expect(await approve(digest())).toMatchObject({ status: 409, body: { code: 'APPROVAL_USED' } });
  }, 60_000);

  it('after the window has closed is refused', async () => {
    const late = await reviewItem(ISSUE_INSTANT_REFUND);
    const at = await until('the end of the window', async () => {
      const { body } = await system.get('orchestrator', `/v1/steps/${String(late['step_id'])}`);
      return body['phase'] === 'manual' ? body : null;
    });
    expect(await approve(digest(at), {}, at)).toMatchObject({ status: 409, body: { code: 'WINDOW_CLOSED' } });
  }, 60_000);
});

describe('hostile text in every field of an execution', () => {
  const REFUSALS = ['NUL_IN_TEXT', 'TEXT_TOO_LONG', 'REF_RESERVED'];
  const cases = HOSTILE_STRINGS.map(({ name, text }, index) => ({
    name,
    text,
    run: runOn(HOME, `hostile-${String(index)}`),
    /** The run in which the same text names who acts. */
    named: runOn(HOME, `hostile-name-${String(index)}`),
  }));

  beforeAll(async () => {
    for (const { text, run, named } of cases) {
      const action = {
        objective: text,
        stepId: text,
        callId: text,
        subjectRef: text,
        args: { [text]: [text] },
        assumptionRefs: [text],
      };
      await system.send(
        EXECUTIONS,
        run,
        framed(executed(run, action, { result: { [text]: text }, externalTransactionRef: text })),
      );
      await system.send(EXECUTIONS, named, framed(executed(named, { agentId: text, initiator: text })));
    }
    await othersGoOn();
  }, 120_000);

  it('is kept as it came or parked with a code, and read back', async () => {
    const parked = new Map((await openParked()).map(({ record_key, reason }) => [record_key, reason]));
    const kept: string[] = [];
    for (const { text, run } of cases) {
      const found = await mutationOf(run);
      if (found === null) {
        expect([text, REFUSALS]).toEqual([text, expect.arrayContaining([parked.get(run)])]);
        continue;
      }
      // Half a surrogate pair has no place in UTF-8: its three octets are read as three replacement characters.
      const told = text.replace(/\p{Cs}/gu, '\ufffd'.repeat(3));
      expect(found['execution']).toMatchObject({
        objective: told,
        step_id: told,
        call_id: told,
        subject_ref: told,
        external_transaction_ref: told,
      });
      kept.push(text);
    }
    expect(kept.length).toBeGreaterThanOrEqual(200);
  }, 120_000);

  it('names nobody: such an actor is parked, and none of these is anybody', async () => {
    const parked = new Map((await openParked()).map(({ record_key, reason }) => [record_key, reason]));
    for (const { text, named } of cases) {
      const refusal = parked.get(named);
      if (isSubject(text)) expect([text, refusal]).toEqual([text, undefined]);
      else expect([text, ['PRINCIPAL_INVALID', ...REFUSALS]]).toEqual([text, expect.arrayContaining([refusal])]);
    }
  }, 60_000);

  it('is looked for over HTTP without harm: found, not found or refused with a code', async () => {
    for (const { text } of cases.filter((one) => one.text.isWellFormed() && one.text.length < 2_000)) {
      const { status, body } = await system.get('ledger', `/v1/mutations?subject=${encodeURIComponent(text)}`);
      if (status === 200)
        expect(itemsOf({ status, body }).every((item) => (item['execution'] as Facts)['subject_ref'] === text)).toBe(
          true,
        );
      else expect([status, typeof body['code']]).toEqual([400, 'string']);
    }
  }, 120_000);

  it('stays inside its line in the logs of the services', () => {
    const lines = readdirSync(system.stack.logDir)
      .filter((name) => /^(?:contract|mutation|recovery|budget)-/.test(name))
      .flatMap((name) =>
        readFileSync(join(system.stack.logDir, name), 'utf8')
          .split('\n')
          .filter((line) => line !== ''),
      );
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines)
      expect(JSON.parse(line)).toMatchObject({ level: expect.any(Number), msg: expect.any(String) });
  });
});
