import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { EdgeProblem } from '@recourse/sdk';
import { desk, table } from './desk.testing.js';
import { openProjection } from './outbound/projection.postgres.js';
import { EXIT_CODES, problemOf } from './problem.js';
import { addressIn, withPlaces } from './unreached.js';

const PLACES = {
  brokers: ['kafka-1.test:9092', 'kafka-2.test:9092'],
  registryUrl: 'http://me:secret@registry.test:8081/',
};

describe('what the command line does not reach', () => {
  it.each([
    ['BROKER_UNAVAILABLE', 'kafka-1.test:9092, kafka-2.test:9092', '--brokers'],
    ['REGISTRY_UNAVAILABLE', 'registry.test:8081', '--registry'],
  ] as const)('is told with where it asked, and what to check: %s', (code, at, flag) => {
    for (const thrown of [new Failure(code, 'admin'), problemOf(new Failure(code, 'admin'))])
      expect(withPlaces(thrown, PLACES)).toMatchObject({
        code,
        message: `admin (asked at ${at})`,
        exit: 'unavailable',
        remedy: expect.stringMatching(new RegExp(`Check that .* runs there[^]*npm start[^]*${flag}`)),
      });
  });

  it('is told so of a database, without its password', async () => {
    const place = { databaseUrl: 'postgres://me:secret@127.0.0.1:1/ledger', log: 'recourse.mutations', partition: 0 };
    const failure: unknown = await openProjection(place).catch((thrown: unknown) => thrown);
    const told = withPlaces(failure, PLACES);
    expect(told).toMatchObject({
      code: 'DATABASE_UNAVAILABLE',
      message: expect.stringMatching(/^could not connect to 127\.0\.0\.1:1\/ledger: /),
      remedy: expect.stringContaining('Check that PostgreSQL runs there'),
    });
    expect(String(told)).not.toContain('secret');
  });

  it('is what a command ends with', async () => {
    const { call, note } = desk(table({}), {
      environment: { RECOURSE_KAFKA_BROKERS: '127.0.0.1:1', RECOURSE_REGISTRY_URL: 'http://127.0.0.1:1' },
    });
    expect(await call('cluster', 'make-schemas')).toBe(EXIT_CODES.unavailable.code);
    expect(note()).toMatch(/^REGISTRY_UNAVAILABLE: .* \(asked at 127\.0\.0\.1:1\)\nWhat to do: Check that the schema/);
  });
});

it('what a service did not reach is left in its own words, as is everything else', () => {
  const answer = { code: 'BROKER_UNAVAILABLE', detail: 'No Kafka broker answers.', from: 'ledger', status: 503 };
  const thrown = Object.assign(Object.create(EdgeProblem.prototype) as EdgeProblem, answer);
  expect(withPlaces(thrown, PLACES)).toBe(thrown);
  const other = new Failure('CLOCK_BEHIND', 'by a day');
  expect(withPlaces(other, PLACES)).toBe(other);
  expect(addressIn('no address')).toBe('no address');
});

it("what a service does not reach is told with the service's name, and what to look at", async () => {
  const { call, note } = desk(() =>
    Response.json({ code: 'DATABASE_UNAVAILABLE', detail: 'no answer' }, { status: 503 }),
  );
  expect(await call('kill-switch', 'list')).toBe(EXIT_CODES.unavailable.code);
  expect(note()).toMatch(
    /^DATABASE_UNAVAILABLE: .*contracts.*: no answer\nWhat to do: See that the database of that service/u,
  );
});

it.each([
  ['on', ['--over', 'tenant', '--reason', 'r', '--runbook', 'b'], 'POST /v1/entries/kill_switch', 'switch +on'],
  ['off', ['--reason', 'r'], 'POST /v1/entries/kill_switch/stop/retire', 'switch +off'],
])('a kill switch that is turned %s is said to be', async (verb, options, route, said) => {
  const { call, out } = desk(table({ [route]: { name: 'stop', version: 1 } }));
  expect(await call('kill-switch', verb, 'stop', ...options)).toBe(0);
  expect(out()).toMatch(new RegExp(said, 'u'));
});
