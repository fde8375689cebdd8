// From cells to keys.
import { describe, expect, it } from '@jest/globals';
import { figuresOf } from './figures.js';
import type { Measurement } from './measure-cell.js';

const cell = (engine: string, more: Partial<Measurement>): Measurement => ({
  engine,
  workload: 'recover',
  variant: 'http',
  callers: 1,
  perS: 10,
  p50: 100,
  p99: 150,
  runs: 20,
  isShort: false,
  cpuMs: { ledger: 7, kafka: 4 },
  foreign: 0.1,
  written: null,
  wrong: null,
  from: 0,
  to: 1,
  ...more,
});
const memory = { variant: 'memory', callers: 64, written: { records: 12, appends: 3, rows: 6 } } as const;

describe('figures of the peers', () => {
  const measured = figuresOf(
    ['recourse', 'recourse-flushed', 'restate'],
    [
      cell('recourse', { p50: 10 }),
      cell('recourse', { callers: 64, perS: 300, p99: 180 }),
      cell('recourse', { callers: 128, perS: 400, p99: 250 }),
      cell('recourse', { ...memory, perS: 900 }),
      cell('recourse', { workload: 'saga', callers: 16, perS: 90 }),
      cell('recourse-flushed', { p50: 30 }),
      cell('restate', { p50: 20 }),
      cell('restate', { callers: 64, perS: 200, p99: 300 }),
      cell('restate', { ...memory, perS: 300, written: null }),
    ],
  );

  it('are those of the fastest cell, and of the fastest whose p99 is within bounds', () => {
    expect(measured.figures).toMatchObject({
      idle_http_p50_ms: 10,
      http_per_s: 400,
      http_per_s_at_200ms: 300,
      memory_per_s: 900,
      saga_http_per_s: 90,
      cpu_us_per_compensation: 1_000,
      records_per_run: 12,
      produce_requests_per_run: 3,
      rows_per_run: 6,
      flushed_idle_http_p50_ms: 30,
      restate_http_per_s: 200,
      http_at_64_p99_ms: 180,
      saga_http_at_16_per_s: 90,
    });
    expect(measured.counts).toMatchObject({ cpu_ms_per_run_ledger: 7, restate_runs: 60, foreign_cpu_share_max: 0.1 });
  });

  it('are compared with those of Restate, where both were measured', () => {
    expect(measured.ratios).toEqual({
      idle_vs_restate: 0.5,
      http_vs_restate: 2,
      memory_vs_restate: 3,
      flushed_idle_vs_restate: 1.5,
      flushed_http_vs_restate: 0.05,
    });
    expect(figuresOf(['recourse'], [cell('recourse', {})]).ratios).toEqual({});
  });

  it('are medians over rounds', () => {
    const rounds = [1, 9, 3].map((perS) => cell('dbos', { perS, p50: perS }));
    expect(figuresOf(['dbos'], rounds).figures).toMatchObject({ dbos_http_per_s: 3, dbos_idle_http_p50_ms: 3 });
  });

  it('have a gate for each engine, which a wrong cell fails, and one without cells', () => {
    expect(measured.gates['recourse_every_run_exact']).toBe(true);
    const gates = figuresOf(['dbos', 'floor'], [cell('dbos', {}), cell('dbos', { wrong: 'a repeat' })]).gates;
    expect(gates).toEqual({ dbos_every_run_exact: false, floor_every_run_exact: false });
  });
});
