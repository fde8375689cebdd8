import { request } from 'node:http';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { MemoryBroker, MemoryRegistry } from '@recourse/kafka';
import type { Json } from '@recourse/kernel';
import { Failure, ManualClock } from '@recourse/kernel';
import { createCodecs } from '@recourse/messages';
import { MemoryProducer } from '../producer/producer.memory.js';
import { EXECUTIONS_TOPIC } from '../producer/producer.js';
import { MemoryPositionStore } from '../stores/position-store.memory.js';
import { RESULTS_TOPIC } from '../worker/worker.js';
import { createDetectorConsumer } from './detector.consumer.js';
import { reserved, RULES } from './detector.contract.js';
import { createDetector, DetectorRuleInvalid, triggerTeller } from './detector.js';
import { detect } from './detector.decisions.js';
import type { DetectorRule, Sighting, Trigger } from './detector.messages.js';
import { OBSERVATION_BYTES_MAX, observationBody, serveDetector } from './detector.server.js';
import type { DetectorServer } from './detector.server.js';
import { MemoryRollbackTriggers } from './rollback-triggers.memory.js';
import { toolReturn } from './sightings.js';

const STOCKED = RULES[0]!;
const seen = (facts: Json, more: Partial<Sighting> = {}): Sighting => ({
  ...toolReturn({
    tenant: 'acme',
    runId: 'run-1',
    capability: 'inventory.reserve_stock',
    args: {},
    result: null,
    outcome: 'succeeded',
    committedAt: 5_000,
  }),
  facts,
  ...more,
});
const short = (warehouse: Json): Sighting => seen({ args: { warehouse }, result: { left: -1 } });
const codes = (sighting: Sighting, rules: readonly DetectorRule[] = RULES): readonly string[] =>
  detect(sighting, rules).refusals.map(({ code }) => code);

describe('a detector', () => {
  it('says nothing while what was expected holds, or about what no rule is about', () => {
    expect(detect(seen({ args: { warehouse: 'east' }, result: { left: 1 } }), RULES)).toEqual({
      triggers: [],
      refusals: [],
    });
    expect(detect({ ...short('east'), source: 'shipping.dispatch_parcel' }, RULES)).toEqual({
      triggers: [],
      refusals: [],
    });
    expect(detect({ ...short('east'), kind: 'human' }, RULES)).toEqual({ triggers: [], refusals: [] });
  });

  it('triggers on what would not have been admitted now: evidence and offender are told together (E7, E8)', () => {
    expect(detect(short('east'), RULES).triggers).toEqual([
      {
        on: 'assumption',
        rule: 'still-in-stock',
        eventId: expect.stringMatching(/^trg_[0-9a-f]{32}$/),
        statement: {
          eventId: expect.stringMatching(/^trg_/),
          tenant: 'acme',
          ref: 'warehouse/east#stocked',
          source: 'inventory.reserve_stock',
          sourceKind: 'tool_return',
          statedAt: 5_000,
          statement: {
            rule: 'still-in-stock',
            expected: STOCKED.expects,
            observed: { args: { warehouse: 'east' }, result: { left: -1 } },
          },
        },
      },
    ]);
  });

  it.each([null, {}, [], ''])('does not trigger on %j: that is no evidence (E8)', (facts) => {
    expect(codes(seen(facts))).toEqual(['TRIGGER_WITHOUT_EVIDENCE']);
  });

  it.each([[undefined], [null], [''], ['a b'], ['x#paid'], ['{/a}'], ['a\u0000'], [{ a: 1 }]])(
    'does not trigger without an offender: nothing is named by %j (E8)',
    (warehouse) => {
      expect(codes(seen({ args: warehouse === undefined ? {} : { warehouse }, result: { left: -1 } }))).toEqual([
        'TRIGGER_WITHOUT_OFFENDER',
      ]);
    },
  );

  it('does not trigger on what cannot be judged, nor against the ref of a commit', () => {
    expect(codes(seen({ args: { warehouse: 'east' }, result: {} }))).toEqual(['TRIGGER_UNDECIDED']);
    expect(
      codes(seen({ verdict: 'wrong' }, { kind: 'human', source: 'asha', about: { ref: 'commit/cp_1#stands' } })),
    ).toEqual(['REF_RESERVED']);
    expect(codes(seen({ verdict: 'wrong' }, { kind: 'human', source: 'asha' }))).toEqual(['TRIGGER_WITHOUT_OFFENDER']);
    expect(
      codes(
        seen(
          { result: { parcel: 'p', status: 'lost' } },
          { kind: 'verifier', source: 'shipping.track_parcel', runId: null },
        ),
      ),
    ).toEqual(['TRIGGER_WITHOUT_OFFENDER']);
  });

  it('gives each cause an id of its own, and each copy of it the same', () => {
    const ids = [
      short('east'),
      short('east'),
      short('west'),
      { ...short('east'), seenAt: 1 },
      { ...short('east'), tenant: 'globex' },
    ].map((sighting) => detect(sighting, RULES).triggers[0]?.eventId);
    expect([ids[0] === ids[1], new Set(ids).size]).toEqual([true, 4]);
  });

  it('names a commit by a reason that holds nothing of what was seen but its hash', () => {
    const [trigger] = detect(
      seen({ booked: false, run: 'run-9', refund: 'mut_1', iban: 'secret' }, { kind: 'observation', source: 'bank' }),
      RULES,
    ).triggers;
    expect(trigger).toMatchObject({
      on: 'commit',
      tenant: 'acme',
      runId: 'run-9',
      commitId: 'mut_1',
      reason: expect.stringMatching(
        /^refund-stands: bank \(observation\) saw at 5000 .* observed\.booked; sha-256 of what was seen: [0-9a-f]{64}$/,
      ),
    });
    expect(JSON.stringify(trigger)).not.toContain('secret');
  });

  it.each([
    [{ expects: 'observed.' }],
    [{ expects: 'state.x' }],
    [{ kinds: [] }],
    [{ offender: { ref: 'commit/{/id}#stands' } }],
    [{ offender: { ref: '' } }],
  ])('is not made with a rule that could never judge: %j', (wrong) => {
    expect(() => createDetector({ rules: [{ ...STOCKED, ...wrong }], tell: () => Promise.resolve() })).toThrow(
      DetectorRuleInvalid,
    );
  });
});

describe('what a detector tells', () => {
  const named = {
    on: 'commit',
    eventId: 'trg_1',
    rule: 'r',
    tenant: 'acme',
    runId: 'run-1',
    commitId: 'cp_1',
    reason: 'why',
  } as const;

  it('goes to the wire or to the orchestrator, by what it names', async () => {
    const [producer, rollbacks] = [new MemoryProducer(), new MemoryRollbackTriggers()];
    const tell = triggerTeller({ producer, rollbacks });
    for (const trigger of [...detect(short('east'), RULES).triggers, named]) await tell(trigger);
    expect(producer.told).toMatchObject([
      { type: 'AssumptionInvalidated', statement: { ref: 'warehouse/east#stocked' } },
    ]);
    expect(rollbacks.taken).toEqual([
      { tenant: 'acme', runId: 'run-1', commitId: 'cp_1', reason: 'why', idempotencyKey: 'trg_1' },
    ]);
  });

  it('is told on when nobody will take it, and fails while nobody answers', async () => {
    const [refused, rollbacks] = [[] as (readonly [Trigger, string])[], new MemoryRollbackTriggers()];
    rollbacks.unknownRuns.add('run-1');
    const tell = triggerTeller({
      producer: new MemoryProducer(),
      rollbacks,
      onRefused: (trigger, code) => refused.push([trigger, code]),
    });
    await tell(named);
    expect(refused).toEqual([[named, 'RUN_UNKNOWN']]);
    const emitted = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
    await triggerTeller({ producer: new MemoryProducer(), rollbacks })(named);
    const text = `detector: a trigger of the rule ${named.rule} is told to nobody: RUN_UNKNOWN: commit cp_1 of run run-1 is not taken`;
    expect(emitted.mock.calls).toEqual([[text, { type: 'RecourseWarning', code: 'TRIGGER_REFUSED' }]]);
    emitted.mockRestore();
    rollbacks.isAway = true;
    await expect(tell(named)).rejects.toThrow('not taken');
  });
});

const JSON_TYPE = { 'content-type': 'application/json' };

it('answers for what nobody will take as for any other, and asks for none of it again: beside the agent too', async () => {
  const refused: string[] = [];
  const producer = new MemoryProducer();
  producer.assumptionInvalidated = () => Promise.reject(new Failure('INSTANT_INVALID', 'seconds'));
  const tell = triggerTeller({
    producer,
    rollbacks: new MemoryRollbackTriggers(),
    onRefused: (_trigger, code) => refused.push(code),
  });
  const server = await serveDetector({ detector: createDetector({ rules: RULES, tell }) });
  const body = JSON.stringify(observationBody(short('east')));
  const { status } = await fetch(`${server.url}/observations`, { method: 'POST', headers: JSON_TYPE, body });
  await server.close();
  expect([status, refused]).toEqual([200, ['INSTANT_INVALID']]);
});

describe('a detector beside the agent', () => {
  let server: DetectorServer;
  afterEach(() => server.close());
  const told: Trigger[] = [];
  const start = async (isDown = false): Promise<void> => {
    server = await serveDetector({
      detector: createDetector({
        rules: RULES,
        tell: (trigger) => (isDown ? Promise.reject(new Error('no broker')) : Promise.resolve(void told.push(trigger))),
      }),
    });
  };
  const ask = async (
    body: string,
    { method = 'POST', path = '/observations' } = {},
  ): Promise<readonly [number, unknown]> => {
    const answer = await fetch(`${server.url}${path}`, {
      method,
      ...(method === 'POST' ? { headers: JSON_TYPE, body } : {}),
    });
    return [answer.status, await answer.json()];
  };

  const asked = (headers: Readonly<Record<string, string>>): Promise<number> =>
    new Promise((resolve, reject) => {
      const sent = { method: 'POST', headers: { ...JSON_TYPE, ...headers } };
      request(`${server.url}/observations`, sent, (answer) => {
        answer.resume().on('end', () => {
          resolve(answer.statusCode ?? 0);
        });
      })
        .on('error', reject)
        .end(JSON.stringify(observationBody(short('east'))));
    });

  it.each<[string, Readonly<Record<string, string>>, number]>([
    ['what a page sends without asking first', { 'content-type': 'text/plain;charset=UTF-8' }, 415],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['another kind of JSON', { 'content-type': 'application/json-seq' }, 415],
    ['a page', { origin: 'https://evil.example' }, 403],
    ['a page that hides who it is', { origin: 'null' }, 403],
    ['a page, as its browser says', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a page of the same host', { 'sec-fetch-site': 'same-site' }, 403],
    ['a name that was given its address', { host: 'evil.example' }, 421],
    ['such a name with its port', { host: 'evil.example:80' }, 421],
    ['what is no name', { host: '@' }, 421],
  ])('takes nothing of a browser: %s', async (_who, headers, status) => {
    await start();
    told.length = 0;
    expect([await asked(headers), told]).toEqual([status, []]);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ['with a charset', { 'content-type': 'application/json; charset=utf-8' }],
    ['in other letters', { 'content-type': 'Application/JSON' }],
    ['as localhost', { host: 'localhost:1' }],
    ['in IPv6', { host: '[::1]' }],
    ['by a name it was told', { host: 'Detector.internal:8080' }],
    ['as the browser of its user', { 'sec-fetch-site': 'none' }],
  ])('takes what a program sends: %s', async (_how, headers) => {
    server = await serveDetector({
      detector: createDetector({ rules: RULES, tell: async () => {} }),
      names: ['detector.internal'],
    });
    expect(await asked(headers)).toBe(200);
  });

  it('answers with the ids of the triggers', async () => {
    await start();
    const [trigger] = detect(short('east'), RULES).triggers;
    expect(await ask(JSON.stringify(observationBody(short('east'))))).toEqual([
      200,
      { triggers: [trigger?.eventId], refusals: [] },
    ]);
    expect(told).toEqual([trigger]);
    expect(new URL(server.url).hostname).toBe('127.0.0.1');
  });

  it('refuses what it cannot read, with every problem', async () => {
    await start();
    for (const body of [
      '',
      '[]',
      '{"tenant":1}',
      JSON.stringify({ ...observationBody(short('east')), more: 1 }),
      JSON.stringify({ ...observationBody(short('east')), seen_at: 1e300 }),
    ]) {
      expect(await ask(body)).toMatchObject([400, { code: 'OBSERVATION_INVALID' }]);
    }
    expect(await ask('{"tenant":1}')).toMatchObject([
      400,
      { message: expect.stringMatching(/\/tenant.*\/kind.*\/seen_at/) },
    ]);
    expect(await ask('', { path: '/' })).toMatchObject([404, { code: 'NOT_FOUND' }]);
    expect(await ask('', { method: 'GET' })).toMatchObject([405, { code: 'METHOD_NOT_ALLOWED' }]);
    expect(await ask('x'.repeat(OBSERVATION_BYTES_MAX + 1))).toMatchObject([413, { code: 'OBSERVATION_TOO_LARGE' }]);
  });

  it('refuses for good what nests so deeply that nobody can judge it, and takes what tools may be passed and answer', async () => {
    await start();
    const nested = (levels: number): string =>
      JSON.stringify(observationBody(seen({ args: { warehouse: 'east' }, result: 'RESULT' }))).replace(
        '"RESULT"',
        `${'['.repeat(levels)}${']'.repeat(levels)}`,
      );
    for (const levels of [5_000, 100_000, 65])
      expect(await ask(nested(levels))).toMatchObject([400, { code: 'OBSERVATION_INVALID' }]);
    expect(await ask(nested(64))).toMatchObject([422, { code: 'TRIGGER_UNDECIDED' }]);
  });

  it('refuses bytes that are no UTF-8: read otherwise, one run would be taken for another', async () => {
    await start();
    const text = JSON.stringify(observationBody(short('east')));
    const body = Buffer.from(text);
    body.writeUInt8(0xff, text.indexOf('run-1'));
    const answer = await fetch(`${server.url}/observations`, { method: 'POST', headers: JSON_TYPE, body });
    expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'OBSERVATION_INVALID' }]);
  });

  it('says which trigger it did not make, and asks to be shown again what it could not tell', async () => {
    await start(true);
    expect(await ask(JSON.stringify(observationBody(seen({}))))).toMatchObject([
      422,
      { code: 'TRIGGER_WITHOUT_EVIDENCE' },
    ]);
    expect(await ask(JSON.stringify(observationBody(short('east'))))).toMatchObject([503, { code: 'TELL_FAILED' }]);
  });
});

describe('a detector apart', () => {
  const setUp = async () => {
    const [broker, registry, clock, positions] = [
      new MemoryBroker(),
      new MemoryRegistry(),
      new ManualClock(),
      new MemoryPositionStore(),
    ];
    broker.ensureTopics([EXECUTIONS_TOPIC, RESULTS_TOPIC].map((name) => ({ name, partitions: 1 })));
    const codecs = createCodecs(registry.forActor('agent'));
    await codecs.prepareWriter(EXECUTIONS_TOPIC, { register: true });
    const producer = await broker.forActor('agent').wireProducer();
    const [told, troubles] = [[] as Trigger[], [] as unknown[]];
    let isDown = false;
    const tell = (trigger: Trigger): Promise<void> =>
      isDown ? Promise.reject(new Error('no broker')) : Promise.resolve(void told.push(trigger));
    const make = () =>
      createDetectorConsumer({
        kafka: broker.forActor('detector'),
        codecs: createCodecs(registry.forActor('detector')),
        detector: createDetector({ rules: RULES, tell }),
        positions,
        clock,
        pollMs: 1,
        onTrouble: (_topic, _partition, cause) => troubles.push(cause),
      });
    const send = (value: Buffer): Promise<void> =>
      producer.send(EXECUTIONS_TOPIC, [{ key: Buffer.from('run-1'), value }]).then(() => undefined);
    const turns = async (count: number): Promise<void> => {
      for (let turn = 0; turn < count; turn += 1) await clock.advance(10);
    };
    return {
      make,
      send,
      turns,
      told,
      troubles,
      positions,
      codecs,
      fail: (down: boolean) => {
        isDown = down;
      },
    };
  };

  it('passes over what it cannot read, and tells again what it could not tell', async () => {
    const { make, send, turns, told, troubles, positions, codecs, fail } = await setUp();
    const consumer = make();
    await consumer.start();
    await send(Buffer.from('garbage'));
    fail(true);
    await send(codecs.encode(EXECUTIONS_TOPIC, 'ToolExecuted', reserved('c', -1).body));
    await turns(20);
    expect([told.length, troubles.length > 1, (await positions.load(EXECUTIONS_TOPIC, 0))?.offset]).toEqual([
      0,
      true,
      1,
    ]);
    fail(false);
    await turns(100);
    expect([told.length, (await positions.load(EXECUTIONS_TOPIC, 0))?.offset]).toEqual([1, 2]);
    await consumer.stop();
    const next = make();
    await next.start();
    await turns(20);
    await next.stop();
    expect(told).toHaveLength(1);
  });
});
