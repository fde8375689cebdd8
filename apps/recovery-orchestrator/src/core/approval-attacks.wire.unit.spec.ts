// Attacks on approvals from the command wire, against the loop as it runs: forged, copied and racing commands. A wire has many writers.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { contractDigest, forwardApprovalId, forwardDigest, plainPayload } from '@recourse/contract';
import {
  createServiceRuntime,
  MemoryDatabase,
  NOTHING,
  signCommand,
  withCommonKinds,
  append,
} from '@recourse/event-log';
import type { Doc, ServiceCore, ServiceRuntime } from '@recourse/event-log';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { sha256Hex } from '@recourse/kernel';
import { createCodecs, fellTogether, SCHEMAS, TOPICS } from '@recourse/messages';
import type { Codecs } from '@recourse/messages';
import { fact } from '@recourse/testing';
import { readFileSync } from 'node:fs';
import { core, digest, envelope, marked, RUN, STEP, TENANT, terms } from '../recoveries.testing.js';
import { RECOVERIES_LOG } from '../core.js';

const EDGE_KEY = Buffer.alloc(32, 3);
const COMMANDS = 'recourse.recovery-commands';
const STATEMENTS = 'recourse.assumption-events';
const REQUESTS = 'recourse.tool-requests.payments';
const BODY = JSON.stringify({
  ...(JSON.parse(readFileSync('examples/contracts/payments.issue_refund.json', 'utf8')) as object),
  forward_approval: 'dual_control',
});
const EXECUTED = contractDigest(BODY);
const TERMS = terms({ contract_digest: EXECUTED, recovery_approval_mode: 'dual_control' });
const STEP_DIGEST = digest({ terms: TERMS });
const NOW = 10_000;

const ARGS = { order: '4711', amount_minor: 500_000 };
const FORWARD_DIGEST = forwardDigest({
  tenant: TENANT,
  runId: RUN,
  effectKey: 'eff_1',
  capability: 'payments.issue_refund',
  contractDigest: EXECUTED.toString('hex'),
  subjectRef: 'order/4711',
  args: ARGS,
});
const QUESTION = forwardApprovalId(TENANT, RUN, 'eff_1', FORWARD_DIGEST);

/** Writes one log of another service: for every statement it hears, the same record. */
function writer(log: string, type: string, body: Doc): ServiceCore {
  return {
    log,
    inputs: [{ topic: STATEMENTS, source: 'wire', mode: 'aligned', types: ['AssumptionDeclared'] }],
    views: [],
    kinds: [],
    keyOf: () => RUN,
    decide: (_context, input) => (input.source === 'timer' ? NOTHING : append(fact(type, body))),
    evolve: () => [],
    react: () => [],
    owed: () => true,
  };
}

/** What is wrong with a command: `forged` replaces fields after it was signed. */
interface Forging {
  readonly key?: Buffer | null;
  readonly id?: string;
  readonly topic?: string;
  readonly roles?: readonly string[];
  readonly forged?: Doc;
  /** What its edge signs in place of what ours would. */
  readonly said?: Doc;
}

/** A broker, the orchestrator that checks signatures, and the two logs it reads. */
class Wires {
  readonly broker = new MemoryBroker();
  readonly registry = new MemoryRegistry();
  readonly codecs: Codecs = createCodecs(this.registry.forActor('outside'));
  readonly database = new MemoryDatabase({ kinds: withCommonKinds(core().kinds), now: () => NOW });
  private readonly runtimes: ServiceRuntime[] = [];
  private sent = 0;

  static async start(): Promise<Wires> {
    const wires = new Wires();
    wires.broker.ensureTopics(TOPICS.map(({ name }) => ({ name, partitions: 1 })));
    for (const { name } of TOPICS) await wires.codecs.prepareWriter(name, { register: true });
    await wires.run(
      writer('recourse.contracts', 'ContractRegistered', {
        name: 'payments.issue_refund',
        version: 1,
        tenant: '*',
        digest: EXECUTED,
        body: BODY,
        registered_by: 'rosa',
        command_id: 'c',
        confirmed_by: null,
      }),
      null,
    );
    await wires.run(writer('recourse.mutations', 'MutationsFell', fellTogether([marked({ terms: TERMS })])), null);
    const statement = {
      event_id: 'e',
      tenant: TENANT,
      ref: RUN,
      run_id: null,
      source: 's',
      statement: plainPayload({}),
      stated_at: 0,
    };
    await wires.put(wires.codecs.encode(STATEMENTS, 'AssumptionDeclared', statement), STATEMENTS);
    await wires.run(core(), EDGE_KEY);
    await wires.until('the step waits', async () => (await wires.step())?.['phase'] === 'awaiting_approval');
    await wires.until('a worker is asked to look', async () => (await wires.dispatched()) === 0);
    return wires;
  }

  async stop(): Promise<void> {
    await Promise.all(this.runtimes.map((runtime) => runtime.stop()));
  }

  /** A command as an edge with this key sends it; null leaves it unsigned. */
  command(
    type: string,
    by: string,
    fields: Doc,
    {
      key = EDGE_KEY,
      id = `cmd-${String((this.sent += 1))}`,
      topic = COMMANDS,
      roles = ['approver'],
      forged = {},
      said = {},
    }: Forging = {},
  ): { readonly id: string; readonly value: Buffer } {
    const body = {
      envelope: envelope(by, roles, { command_id: id, body_sha256: Buffer.from(sha256Hex(id), 'hex') }),
      ...fields,
    };
    const name = type.includes('.') ? type : `recourse.recoveries.${type}`;
    const signature =
      key === null ? Buffer.alloc(0) : signCommand(key, { topic, type: name, body: { ...body, ...said } });
    return {
      id,
      value: this.codecs.encode(COMMANDS, name.slice(name.lastIndexOf('.') + 1), {
        ...body,
        ...forged,
        envelope: { ...body.envelope, ...(forged['envelope'] as object), signature },
      }),
    };
  }

  /** A question as an edge of another build sends it: its schema has these fields, and its bytes end so. */
  async questionBy(
    fields: (ours: readonly Doc[]) => readonly Doc[],
    { said, bytes }: { readonly said: Doc; readonly bytes: (ours: Buffer) => Buffer },
  ): Promise<{ readonly id: string; readonly value: Buffer }> {
    const name = 'recourse.recoveries.RequestForwardApproval';
    const schema = JSON.parse(SCHEMAS[name]) as Doc & { readonly fields: readonly Doc[] };
    const text = JSON.stringify({ ...schema, fields: fields(schema.fields) });
    const frame = Buffer.alloc(5);
    const registry = this.registry.forActor('another build');
    frame.writeInt32BE(await registry.idOf(`${COMMANDS}-${name}`, text, { register: true }), 1);
    const { id, value } = this.command(name, 'refund-agent', QUESTIONED, { roles: ['agent'], said });
    return { id, value: Buffer.concat([frame, bytes(value.subarray(frame.length))]) };
  }

  async put(value: Buffer, topic = COMMANDS, key = RUN): Promise<void> {
    await this.putAll([value], topic, key);
  }

  /** Puts records on a wire at once: the loop takes them in one batch. */
  async putAll(values: readonly Buffer[], topic = COMMANDS, key = RUN): Promise<void> {
    await (
      await this.broker.forActor('outside').logProducer()
    ).send(
      topic,
      0,
      values.map((value) => ({ key: Buffer.from(key), value })),
    );
  }

  /** Code the command was answered with; null for one that was accepted, undefined while it has no answer. */
  async answerOf(id: string): Promise<string | null | undefined> {
    return (await this.doc('command', id, id))?.['code'] as string | null | undefined;
  }

  async answered(id: string): Promise<string | null> {
    await this.until(`an answer to ${id}`, async () => (await this.answerOf(id)) !== undefined);
    return (await this.answerOf(id)) ?? null;
  }

  async parked(count: number): Promise<readonly Doc[]> {
    const found = async (): Promise<readonly Doc[]> =>
      (await this.docs('parked', RUN)).filter((doc) => doc['reason'] !== undefined);
    await this.until(`${String(count)} parked`, async () => (await found()).length >= count);
    return found();
  }

  step(): Promise<Doc | undefined> {
    return this.doc('step', RUN, STEP);
  }
  question(): Promise<Doc | undefined> {
    return this.doc('forward', RUN, QUESTION);
  }

  /** Requests that went to workers behind the look for whoever decides: where people agreed, the look before the dispatch. */
  async dispatched(): Promise<number> {
    return (await (await this.broker.forActor('outside').rawReader()).range(REQUESTS, 0)).high - 1;
  }

  private async run(one: ServiceCore, edgeKey: Buffer | null): Promise<void> {
    const database =
      edgeKey === null ? new MemoryDatabase({ kinds: withCommonKinds(one.kinds), now: () => NOW }) : this.database;
    const runtime = createServiceRuntime({
      cores: [one],
      kafka: this.broker.forActor(one.log),
      registry: this.registry.forActor(one.log),
      stores: database.forActor(one.log),
      logId: 'spec',
      groupId: one.log,
      edgeKey,
      settings: { lazyProgressMs: 20 },
    });
    this.runtimes.push(runtime);
    await runtime.start();
  }

  private async docs(kind: string, group: string): Promise<readonly Doc[]> {
    return (await this.database.partition(RECOVERIES_LOG, 0).load([{ kind, group }])).rows.map(({ doc }) => doc);
  }
  private async doc(kind: string, group: string, key: string): Promise<Doc | undefined> {
    return (await this.database.partition(RECOVERIES_LOG, 0).load([{ kind, group }])).rows.find(
      (row) => row.key === key,
    )?.doc;
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    for (let turn = 0; turn < 2_000; turn += 1) {
      if (await holds()) return;
      await new Promise((resolve) => {
        setTimeout(resolve, 2);
      });
    }
    throw new Error(`never: ${what}`);
  }
}

const APPROVAL = { run_id: RUN, step_id: STEP, action_digest: STEP_DIGEST, reason: 'seen' };
const QUESTIONED = {
  run_id: RUN,
  agent_id: 'refund-agent',
  initiator: 'ines',
  objective: 'settle ticket 99',
  capability: 'payments.issue_refund',
  contract_digest: EXECUTED,
  effect_key: 'eff_1',
  subject_ref: 'order/4711',
  mode: 'human',
  action_digest: Buffer.from(FORWARD_DIGEST, 'hex'),
  args: plainPayload(ARGS),
  rehearsal: null,
};
const VERDICT = {
  run_id: RUN,
  approval_id: QUESTION,
  action_digest: Buffer.from(FORWARD_DIGEST, 'hex'),
  verdict: 'approve',
  reason: 'seen',
};
let wires: Wires;

beforeEach(async () => {
  wires = await Wires.start();
});
afterEach(async () => {
  await wires.stop();
});

/** Nothing of an attack is left: no approval counts, no request went out. */
async function unmoved(): Promise<void> {
  expect(await wires.step()).toMatchObject({ phase: 'awaiting_approval', approvals: [], legs: [] });
  expect(await wires.dispatched()).toBe(0);
}

describe('an approval on the wire', () => {
  it.each<[string, () => Buffer, string]>([
    [
      'without a signature',
      () => wires.command('ApproveStep', 'olga', APPROVAL, { key: null }).value,
      'COMMAND_UNSIGNED',
    ],
    [
      'signed by the edge of another environment',
      () => wires.command('ApproveStep', 'olga', APPROVAL, { key: Buffer.alloc(32, 4) }).value,
      'COMMAND_SIGNATURE_INVALID',
    ],
    [
      'signed for another wire',
      () => wires.command('ApproveStep', 'olga', APPROVAL, { topic: 'recourse.budget-commands' }).value,
      'COMMAND_SIGNATURE_INVALID',
    ],
    [
      'whose id was changed after it was signed',
      () => wires.command('ApproveStep', 'olga', APPROVAL, { forged: { envelope: { command_id: 'other' } } }).value,
      'COMMAND_SIGNATURE_INVALID',
    ],
    [
      'whose approver was changed after it was signed',
      () => wires.command('ApproveStep', 'ines', APPROVAL, { forged: { envelope: { principal: 'olga' } } }).value,
      'COMMAND_SIGNATURE_INVALID',
    ],
    [
      'whose roles were changed after it was signed',
      () =>
        wires.command('ApproveStep', 'olga', APPROVAL, {
          roles: ['reporter'],
          forged: { envelope: { roles: ['approver'] } },
        }).value,
      'COMMAND_SIGNATURE_INVALID',
    ],
    [
      'whose tenant was changed after it was signed',
      () => wires.command('ApproveStep', 'olga', APPROVAL, { forged: { envelope: { tenant: 'globex' } } }).value,
      'COMMAND_SIGNATURE_INVALID',
    ],
    [
      'whose digest was changed after it was signed',
      () =>
        wires.command(
          'ApproveStep',
          'olga',
          { ...APPROVAL, action_digest: Buffer.alloc(32) },
          { forged: { action_digest: STEP_DIGEST } },
        ).value,
      'COMMAND_SIGNATURE_INVALID',
    ],
    [
      'whose step was changed after it was signed',
      () =>
        wires.command('ApproveStep', 'olga', { ...APPROVAL, step_id: 'step_other' }, { forged: { step_id: STEP } })
          .value,
      'COMMAND_SIGNATURE_INVALID',
    ],
  ])('%s is parked, counts for nothing and holds nobody up', async (_what, forge, reason) => {
    await wires.put(forge());
    expect(await wires.parked(1)).toMatchObject([{ reason }]);
    await unmoved();
    const good = wires.command('ApproveStep', 'olga', APPROVAL);
    await wires.put(good.value);
    expect(await wires.answered(good.id)).toBeNull();
  });

  it('that was forged is not made true by a redrive', async () => {
    await wires.put(wires.command('ApproveStep', 'olga', APPROVAL, { key: null }).value);
    const [parked] = await wires.parked(1);
    const redrive = wires.command(
      'recourse.log.RedriveParked',
      'ada',
      { log: RECOVERIES_LOG, parked_id: parked?.['parked_id'], reason: 'all of them' },
      { roles: ['administrator'] },
    );
    await wires.put(redrive.value);
    expect(await wires.answered(redrive.id)).toBe('COMMAND_UNSIGNED');
    await unmoved();
  });

  it('that is a denial under the type of an approval is none: what is signed names its type', async () => {
    const denial = wires.command('DenyStep', 'olga', APPROVAL);
    const { body } = wires.codecs.decodeSync(denial.value) as { readonly body: Doc };
    await wires.put(wires.codecs.encode(COMMANDS, 'ApproveStep', body));
    expect(await wires.parked(1)).toMatchObject([{ reason: 'COMMAND_SIGNATURE_INVALID' }]);
    await unmoved();
  });

  it('that is a copy of one that counted counts once: its id was answered', async () => {
    const first = wires.command('ApproveStep', 'olga', APPROVAL);
    await wires.putAll([first.value, first.value]);
    await wires.put(first.value);
    const last = wires.command('DenyStep', 'olga', { ...APPROVAL, action_digest: Buffer.alloc(32) });
    await wires.put(last.value);
    expect(await wires.answered(last.id)).toBe('DIGEST_MISMATCH');
    expect(await wires.step()).toMatchObject({ phase: 'awaiting_approval', approvals: [{ by: 'olga' }] });
    expect(await wires.dispatched()).toBe(0);
  });

  it('that is a record of the log sent to the wire is no command', async () => {
    const record = wires.codecs.encode(RECOVERIES_LOG, 'StepApproved', {
      seq: 9,
      prev_hash: Buffer.alloc(32),
      decided_at: 1,
      step_id: STEP,
      recovery_id: 'r',
      tenant: TENANT,
      run_id: RUN,
      mutation_id: 'mut_1',
      approval_id: 'apr_1',
      action_digest: STEP_DIGEST,
      by: 'olga',
      reason: 'x',
      command_id: 'c',
    });
    await wires.put(record);
    expect(await wires.parked(1)).toMatchObject([{ reason: 'UNEXPECTED_TYPE' }]);
    await unmoved();
  });

  it('that is a record of the log, written onto the log by somebody else, is not accepted', async () => {
    const record = wires.codecs.encode(RECOVERIES_LOG, 'StepApproved', {
      seq: 9,
      prev_hash: Buffer.alloc(32),
      decided_at: 1,
      step_id: STEP,
      recovery_id: 'r',
      tenant: TENANT,
      run_id: RUN,
      mutation_id: 'mut_1',
      approval_id: 'apr_1',
      action_digest: STEP_DIGEST,
      by: 'olga',
      reason: 'x',
      command_id: 'c',
    });
    await wires.put(record, RECOVERIES_LOG);
    const next = wires.command('ApproveStep', 'rosa', APPROVAL);
    await wires.put(next.value);
    expect(await wires.answered(next.id)).toBe('EDITOR_APPROVAL');
    await unmoved();
  });
});

describe('the second of two approvals', () => {
  it.each([
    ['pia', 'quinn'],
    ['quinn', 'pia'],
  ])('is taken once when %s and %s come in one batch', async (second, third) => {
    const [one, two, three] = ['olga', second, third].map((by) => wires.command('ApproveStep', by, APPROVAL));
    await wires.putAll([one!.value, two!.value, three!.value]);
    expect([await wires.answered(one!.id), await wires.answered(two!.id), await wires.answered(three!.id)]).toEqual([
      null,
      null,
      'APPROVAL_USED',
    ]);
    await wires.until('the look before the dispatch', async () => (await wires.dispatched()) > 0);
    expect(await wires.dispatched()).toBe(1);
    expect(await wires.step()).toMatchObject({
      phase: 'observing',
      approvals: [{ by: 'olga' }, { by: second }],
      facts_ask: { purpose: 'dispatch', round: 1 },
    });
  });

  it('is not the same human in the same batch', async () => {
    const [one, two] = ['olga', 'user:OLGA'].map((by) => wires.command('ApproveStep', by, APPROVAL));
    await wires.putAll([one!.value, two!.value]);
    expect([await wires.answered(one!.id), await wires.answered(two!.id)]).toEqual([null, 'SAME_APPROVER']);
    expect(await wires.dispatched()).toBe(0);
  });

  it('comes to nothing behind a denial in the same batch', async () => {
    const [one, no, two] = [
      wires.command('ApproveStep', 'olga', APPROVAL),
      wires.command('DenyStep', 'pia', APPROVAL),
      wires.command('ApproveStep', 'quinn', APPROVAL),
    ];
    await wires.putAll([one.value, no.value, two.value]);
    expect([await wires.answered(one.id), await wires.answered(no.id), await wires.answered(two.id)]).toEqual([
      null,
      null,
      'STEP_WRONG_PHASE',
    ]);
    expect(await wires.dispatched()).toBe(0);
  });
});

describe('a verdict before the effect', () => {
  const use = (attempt: number) =>
    wires.command(
      'UseForwardApproval',
      'svc:refunds',
      { run_id: RUN, approval_id: QUESTION, action_digest: VERDICT.action_digest, attempt },
      { roles: ['agent'] },
    );
  const ask = () => wires.command('RequestForwardApproval', 'svc:refunds', QUESTIONED, { roles: ['agent'] });

  it('given in one round counts in no other, though its bytes are sent again', async () => {
    const [question, one, two, used, again] = [
      ask(),
      wires.command('DecideForwardApproval', 'olga', VERDICT),
      wires.command('DecideForwardApproval', 'pia', VERDICT),
      use(1),
      ask(),
    ];
    await wires.putAll([question.value, one.value, two.value, used.value, again.value]);
    expect(await wires.answered(again.id)).toBeNull();
    expect(await wires.question()).toMatchObject({ phase: 'awaiting', round: 2, approvals: [] });
    const late = use(2);
    await wires.putAll([one.value, two.value, late.value]);
    expect(await wires.answered(late.id)).toBe('APPROVAL_WRONG_PHASE');
    expect(await wires.question()).toMatchObject({ phase: 'awaiting', round: 2, approvals: [] });
  });

  it.each(['policy:refunds@1', 'user:Policy:refunds@1'])(
    'is given in the name of a policy in vain, whoever signed it: %s',
    async (name) => {
      const question = ask();
      await wires.putAll([question.value, wires.command('DecideForwardApproval', name, VERDICT).value]);
      expect(await wires.parked(1)).toMatchObject([{ reason: 'PRINCIPAL_INVALID' }]);
      expect(await wires.question()).toMatchObject({ phase: 'awaiting', approvals: [] });
    },
  );

  it('is forged in vain, and given once by two who race with a third', async () => {
    const question = ask();
    await wires.putAll([question.value, wires.command('DecideForwardApproval', 'olga', VERDICT, { key: null }).value]);
    expect(await wires.parked(1)).toMatchObject([{ reason: 'COMMAND_UNSIGNED' }]);
    expect(await wires.question()).toMatchObject({ phase: 'awaiting', approvals: [] });
    const given = ['pia', 'olga', 'quinn'].map((by) => wires.command('DecideForwardApproval', by, VERDICT));
    await wires.putAll(given.map(({ value }) => value));
    expect(await Promise.all(given.map(({ id }) => wires.answered(id)))).toEqual([null, null, 'APPROVAL_WRONG_PHASE']);
  });
});

describe('a command of an edge of another build', () => {
  const withoutLast = (fields: readonly Doc[]): readonly Doc[] => fields.slice(0, -1);
  const withOneMore = (fields: readonly Doc[]): readonly Doc[] => [
    ...fields,
    { name: 'limit', type: ['null', 'long'], default: null },
  ];

  it('which has not a member yet is answered: it signed what it knows', async () => {
    const question = await wires.questionBy(withoutLast, {
      said: { rehearsal: undefined },
      bytes: (ours) => ours.subarray(0, -1),
    });
    await wires.put(question.value);
    expect(await wires.answered(question.id)).toBeNull();
    expect(await wires.question()).toMatchObject({ phase: 'awaiting' });
  });

  it('which has a member more, and says nothing in it, is answered', async () => {
    const question = await wires.questionBy(withOneMore, {
      said: { limit: null },
      bytes: (ours) => Buffer.concat([ours, Buffer.from([0])]),
    });
    await wires.put(question.value);
    expect(await wires.answered(question.id)).toBeNull();
  });

  it('which says more than is read here is parked, and holds nobody up', async () => {
    const question = await wires.questionBy(withOneMore, {
      said: { limit: 5 },
      bytes: (ours) => Buffer.concat([ours, Buffer.from([2, 10])]),
    });
    await wires.put(question.value);
    expect(await wires.parked(1)).toMatchObject([{ reason: 'COMMAND_NEWER', detail: /\/limit/ }]);
    const good = wires.command('ApproveStep', 'olga', APPROVAL);
    await wires.put(good.value);
    expect(await wires.answered(good.id)).toBeNull();
  });

  it('is believed for what its edge signed alone', async () => {
    const question = await wires.questionBy(withOneMore, {
      said: { limit: null },
      bytes: (ours) => Buffer.concat([ours, Buffer.from([2, 10])]),
    });
    await wires.put(question.value);
    expect(await wires.parked(1)).toMatchObject([{ reason: 'COMMAND_SIGNATURE_INVALID' }]);
  });
});
