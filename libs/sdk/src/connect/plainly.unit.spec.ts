import { describe, expect, it } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { EdgeProblem } from '../edge/edge.js';
import { ConnectProblem } from './connect.problem.js';
import { endPlainly, noteLine, plainly, withAddress } from './plainly.js';
import type { Ending } from './plainly.js';

const PLACES = { brokers: ['kafka-1:9092', 'kafka-2:9092'], registryUrl: 'http://registry:8081' };
const CAUSE = new Error('connect ECONNREFUSED 127.0.0.1:9092');
const AWAY = new Failure('BROKER_UNAVAILABLE', 'admin', { cause: new Error('retries exceeded', { cause: CAUSE }) });

describe('a program that does not reach what it stands on', () => {
  const ended = (thrown: unknown): { readonly lines: readonly string[]; readonly codes: readonly unknown[] } => {
    const [lines, codes]: [string[], unknown[]] = [[], []];
    const ending: Ending = {
      exit: (code) => {
        codes.push(code);
        return undefined as never; // the process of this proof goes on
      },
      once: (_event, hears) => {
        hears(thrown);
      },
    };
    endPlainly(ending, (line) => void lines.push(line));
    return { lines, codes };
  };

  it.each([
    [
      new ConnectProblem('ISSUER_UNREACHABLE', 'the development issuer at http://issuer does not answer'),
      'http://issuer',
    ],
    [
      new EdgeProblem('SERVICE_UNREACHABLE', 'no answer', { from: 'the ledger at http://ledger', status: null }),
      'http://ledger',
    ],
    [withAddress(AWAY, PLACES), 'Kafka at kafka-1:9092, kafka-2:9092 does not answer'],
    [
      withAddress(new Failure('REGISTRY_UNAVAILABLE', 'subject x'), PLACES),
      'the schema registry at http://registry:8081',
    ],
    [AWAY, 'BROKER_UNAVAILABLE: admin (connect ECONNREFUSED 127.0.0.1:9092)'],
  ])('ends with one line, without a trace: %s', (thrown, words) => {
    const { lines, codes } = ended(thrown);
    expect(lines).toEqual([expect.stringContaining(words)]);
    expect(lines.join()).not.toMatch(/\n|\bat .*\.[jt]s:/u);
    expect(codes).toEqual([1]);
  });

  it.each([
    new ConnectProblem('ISSUER_UNREACHABLE', 'it does not answer'),
    new EdgeProblem('SERVICE_UNREACHABLE', 'no answer', { from: 'the ledger', status: null }),
    withAddress(AWAY, PLACES),
  ])('says what to do: %s', (thrown) => {
    expect(plainly(thrown)).toContain('Check that ');
  });

  it('keeps the trace of what is no problem of ours', () => {
    expect(ended(new TypeError('x is not a function')).lines.join()).toMatch(/TypeError: x is not a function\n +at /u);
  });
});

describe('a note of a worker', () => {
  it('tells trouble in one line, with where it was asked', () => {
    const line = noteLine({ type: 'trouble', doing: 'fetch', cause: withAddress(AWAY, PLACES) });
    expect(line).toMatch(/^trouble: fetch: BROKER_UNAVAILABLE: Kafka at kafka-1:9092, kafka-2:9092 does not answer/u);
    expect(line).not.toContain('\n');
    expect(noteLine({ type: 'trouble', doing: 'trace', cause: new Error('disk full') })).toBe(
      'trouble: trace: Error: disk full',
    );
  });

  it('tells what was answered: the run, each step, and why one did not end well', () => {
    const step = { stepId: 's-1', outcome: 'verified', errorKind: null, detail: null };
    const failed = { stepId: 's-2', outcome: 'failed', errorKind: 'rejected', detail: 'no\u001b[2J such booking' };
    const line = noteLine({ type: 'answered', legId: 'leg-1', runId: 'run-7', steps: [step, failed] });
    expect(line).toBe(
      'answered for run "run-7" (leg leg-1): step "s-1" verified; step "s-2" failed (rejected: "no\\u001b[2J such booking")',
    );
  });

  it('tells what it is asked on, what it held back, and what it did not take', () => {
    const place = { partition: 1, offset: 7 };
    const lines = [
      noteLine({ type: 'assigned', partitions: [1, 2] }),
      noteLine({ type: 'assigned', partitions: [] }),
      noteLine({
        type: 'held_back',
        legId: 'leg-1',
        runId: 'run-7',
        stepId: 's-1',
        reason: 'the kill switch x stops the tenant: y',
      }),
      noteLine({ type: 'refused', ...place, reason: 'UNSIGNED' }),
      noteLine({ type: 'unreadable', ...place, reason: 'BAD_FRAME' }),
    ];
    expect(lines).toEqual([
      'asked on partitions 1, 2',
      'asked of no partition: other workers of its group have them',
      'held back before step "s-1" of run "run-7" (leg leg-1): "the kill switch x stops the tenant: y"',
      'refused: the request at offset 7 of partition 1: "UNSIGNED"',
      'unreadable: the request at offset 7 of partition 1: "BAD_FRAME"',
    ]);
  });
});
