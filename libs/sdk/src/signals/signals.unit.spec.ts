import { describe, expect, it } from '@jest/globals';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import { createCodecs, recordOf } from '@recourse/messages';
import { createSignals, SIGNALS_TOPIC } from './signals.js';

const SAID = { tenant: 'acme', agentId: 'agent-7', taskKind: 'refund_order', statedAt: 5_000 } as const;
const WORK = {
  tenant: 'acme',
  agentId: 'agent-7',
  workflowId: 'refunds',
  accepted: true,
  grounded: true,
  policyCompliant: false,
  endedAt: 5_000,
} as const;

async function stage() {
  const [broker, registry] = [new MemoryBroker(), new MemoryRegistry()];
  broker.ensureTopics([{ name: SIGNALS_TOPIC, partitions: 1 }]);
  const signals = await createSignals({
    kafka: broker.forActor('critic'),
    codecs: createCodecs(registry.forActor('critic')),
    source: 'critic',
    registerSchemas: true,
  });
  const read = async () => {
    const codecs = createCodecs(registry.forActor('reader'));
    const { records } = await (await broker.forActor('reader').rawReader()).read(SIGNALS_TOPIC, 0, 0);
    return Promise.all(
      records.map(async ({ key, value }) => {
        const first = codecs.decodeSync(value);
        if (first.kind === 'unknown_schema') await codecs.load(first.id);
        const record = recordOf(SIGNALS_TOPIC, codecs.decodeSync(value));
        return { key: key?.toString(), type: record?.type, body: record?.body };
      }),
    );
  };
  return { signals, read };
}

describe('signals', () => {
  it('say how an agent did, under the key of its tenant', async () => {
    const { signals, read } = await stage();
    await signals.score({ ...SAID, score: 'eval_score', value: 0.85, runId: 'run_1' });
    await signals.incident({ ...SAID, incident: 'safety_violation', source: 'monitor', reason: 'told a secret' });
    await signals.outcome({
      ...WORK,
      cost: { amount_minor: 12, currency: 'USD' },
      totalTokens: 100,
      csatPermille: 900,
    });
    const [score, incident, outcome] = await read();
    expect(score).toMatchObject({
      key: 'acme',
      type: 'AgentSignalled',
      body: { signal: 'eval_score', value: 0.85, source: 'critic', run_id: 'run_1', reason: null },
    });
    expect(incident?.body).toMatchObject({ signal: 'safety_violation', value: null, source: 'monitor' });
    expect(outcome).toMatchObject({
      key: 'acme',
      type: 'OutcomeRecorded',
      body: { policy_compliant: false, total_tokens: 100, retry_tokens: 0, csat_permille: 900, revenue: null },
    });
  });

  it('have the id of what they say', async () => {
    const { signals } = await stage();
    const said = { ...SAID, score: 'eval_score', value: 0.85 } as const;
    const once = await signals.score(said);
    expect(await signals.score(said)).toBe(once);
    expect(await signals.score({ ...said, value: 0.8 })).not.toBe(once);
    expect(await signals.score({ ...said, value: Number.NaN })).not.toBe(
      await signals.score({ ...said, value: Infinity }),
    );
    expect(await signals.score({ ...said, eventId: 'mine' })).toBe('mine');
    expect(await signals.outcome(WORK)).toBe(await signals.outcome(WORK));
  });

  it.each([
    [{ tenant: '*' }, 'TENANT_INVALID'],
    [{ agentId: '' }, 'PRINCIPAL_INVALID'],
    [{ source: 'policy:x@1' }, 'PRINCIPAL_INVALID'],
  ])('are not sent where nobody could be meant: %j', async (more, code) => {
    const { signals, read } = await stage();
    await expect(signals.outcome({ ...WORK, ...more })).rejects.toMatchObject({ code });
    expect(await read()).toEqual([]);
  });
});

describe('a signal that its reader would park', () => {
  it('is refused before it leaves', async () => {
    const { signals, read } = await stage();
    const said = { ...SAID, incident: 'replay_failed' } as const;
    await expect(signals.incident({ ...said, taskKind: 'x'.repeat(513) })).rejects.toMatchObject({
      code: 'RECORD_UNFIT',
      message: expect.stringContaining('TEXT_TOO_LONG'),
    });
    expect(await read()).toEqual([]);
  });

  it.each([
    ['without a kind of task', { taskKind: undefined }, '/taskKind'],
    ['with a value that is no number', { value: 'high' }, '/value'],
    ['without a tenant', { tenant: undefined }, '/tenant'],
    ['without an agent', { agentId: undefined }, '/agentId'],
  ])('is refused with the place that does not fit: %s', async (_what, more, place) => {
    const { signals, read } = await stage();
    const refused = signals.score({ ...SAID, score: 'eval_score', value: 0.5, ...more } as never);
    await expect(refused).rejects.toMatchObject({ code: 'RECORD_UNFIT', message: expect.stringContaining(place) });
    expect(await read()).toEqual([]);
  });
});
