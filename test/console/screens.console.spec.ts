// Every screen, light, dark and narrow: usable without eyes or a mouse, quick, and drawn for docs/console.md.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { root } from '../../scripts/lib/paths.mjs';
import { NARROW, openBrowser, picture, signInAs, takeSeat, violationsOn } from './browser.testing.js';
import { System } from './system.testing.js';
import type { Case } from './system.testing.js';

const STARTS_WITHIN_MS = 240_000;
const TAKES_AT_MOST_MS = 240_000;

let system: System;
let browser: Browser;
let step: Case;

beforeAll(async () => {
  [system, browser] = await Promise.all([System.start(), openBrowser()]);
  await system.registerContracts();
  step = await system.waiting();
}, STARTS_WITHIN_MS);

afterAll(async () => {
  await browser.close();
  await system.stop();
}, STARTS_WITHIN_MS);

/** By name of the picture: where the screen is, and what stands on it once it is there. */
const screens = (): readonly (readonly [name: string, path: string, there: string])[] => [
  ['inbox', '/', 'payments.issue_refund'],
  ['review', `/reviews/${step.stepId}`, 'What you can do'],
  ['runs', '/runs', 'refund-agent'],
  ['run', `/runs/${step.runId}`, 'The way back was bound'],
  ['lineage', `/lineage/${step.mutationId}`, 'As a table'],
  ['exposure', '/exposure', 'By capability'],
  ['contracts', '/contracts', 'payments.get_refund'],
  ['contract', '/contracts/payments.issue_refund', 'In full'],
  ['parties', '/parties', 'Receivers of notices'],
  ['audit', '/audit', 'recourse.mutations/0'],
];

describe('every screen', () => {
  it.each([
    ['light', { colorScheme: 'light' as const }],
    ['dark', { colorScheme: 'dark' as const }],
    ['narrow', { colorScheme: 'light' as const, viewport: NARROW }],
  ])(
    'has no violation that axe knows of: %s',
    async (name, options) => {
      const { page, faults } = await takeSeat(browser, options);
      await page.goto(system.console);
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      const found: string[] = (await violationsOn(page)).map((one) => `welcome ${one}`);
      await signInAs(page, system.console, 'mira');
      for (const [screen, path, there] of screens()) {
        await page.goto(`${system.console}${path}`);
        await page.getByText(there).first().waitFor();
        found.push(...(await violationsOn(page)).map((one) => `${screen} ${one}`));
        const isTooWide = await page.evaluate<boolean>(
          'document.documentElement.scrollWidth > document.documentElement.clientWidth',
        );
        expect([screen, isTooWide]).toEqual([screen, false]);
        await picture(page, `${screen}-${name}`);
      }
      await page.goto(`${system.console}/reviews/${step.stepId}`);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('alertdialog').waitFor();
      found.push(...(await violationsOn(page)).map((one) => `window ${one}`));
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    },
    TAKES_AT_MOST_MS,
  );
});

const ASSETS = join(root, 'apps', 'console', 'dist', 'page-files', 'assets');
const SCRIPT_BYTES_MAX = 250 * 1_024;

describe('figures', () => {
  it(
    'first load holds at most 250 KB of script, and the graph library is not in it',
    async () => {
      const { page } = await takeSeat(browser);
      await signInAs(page, system.console, 'mira');
      const loaded = new Set<string>();
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (pathname.endsWith('.js')) loaded.add(pathname.split('/').at(-1) ?? '');
      });
      await page.goto(system.console);
      await page.getByText('What waits for a person').waitFor();
      const bytes = [...loaded].reduce((sum, file) => sum + statSync(join(ASSETS, `${file}.gz`)).size, 0);
      process.stdout.write(`first load: ${String(Math.round(bytes / 1_024))} KB of script, gzipped\n`);
      expect(bytes).toBeLessThan(SCRIPT_BYTES_MAX);
      expect([...loaded].some((file) => /elk|lineage/.test(file))).toBe(false);
      expect(readdirSync(ASSETS).some((file) => /elk/.test(file))).toBe(true);
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'ten thousand items wait, and few rows are drawn',
    async () => {
      const { page } = await takeSeat(browser);
      await page.route('**/api/notifier/v1/items?**', (route) => {
        const at = Number(new URL(route.request().url()).searchParams.get('cursor') ?? '0');
        const items = Array.from({ length: 500 }, (_, index) => itemAt(at + index));
        return route.fulfill({ json: { items, next_cursor: at + 500 >= 10_000 ? null : String(at + 500) } });
      });
      await signInAs(page, system.console, 'mira');
      await page.getByText('10,000 items').waitFor({ timeout: 60_000 });
      expect(await page.getByRole('listitem').count()).toBeLessThan(60);
      const list = page.getByRole('region', { name: 'Items' });
      await list.evaluate((frame) => {
        frame.scrollTop = frame.scrollHeight;
      });
      await page.locator('a[href="/reviews/step_9999"]').waitFor();
      await picture(page, 'inbox-10000');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'a lineage of ten thousand commits is drawn by run, and opened',
    async () => {
      const { page } = await takeSeat(browser);
      await page.route('**/api/ledger/v1/lineage/root', (route) => route.fulfill({ json: lineageOf(10_000) }));
      await page.route('**/api/ledger/v1/lineage/root/preview', (route) =>
        route.fulfill({
          json: {
            falls: { commits: 10_000, with_effect: 100, without_effect: 9_900, runs: 100 },
            fallen_already: 0,
            money: [],
            consumers: [],
            beyond_bound: { commits: 0 },
          },
        }),
      );
      await signInAs(page, system.console, 'mira');
      const began = Date.now();
      await page.goto(`${system.console}/lineage/root`);
      await page.getByText('10,000 commits in 100 runs').waitFor({ timeout: 60_000 });
      await page.locator('.box').first().waitFor({ timeout: 60_000 });
      process.stdout.write(
        `lineage of 10,000: first drawn after ${String(Date.now() - began)} ms, with the load of the page\n`,
      );
      await picture(page, 'lineage-10000');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'a record is visible soon after it was accepted',
    async () => {
      const { page } = await takeSeat(browser);
      await signInAs(page, system.console, 'mira', '/runs');
      await page.getByText('What agents did').waitFor();
      const delays: number[] = [];
      for (let count = 0; count < 12; count += 1) {
        const rows = await page.locator('tbody tr').count();
        const seen = page.waitForFunction<number>(
          `document.querySelectorAll('tbody tr').length > ${String(rows)} && Date.now()`,
          undefined,
          { polling: 10 },
        );
        const { mutationId } = await system.refund();
        const at = Number(await (await seen).jsonValue());
        const row = await system.get('ledger', `/v1/mutations/${mutationId}`);
        delays.push(at - Number(row['created_at']));
      }
      const sorted = delays.toSorted((a, b) => a - b);
      process.stdout.write(
        `visible after acceptance: p50 ${String(sorted[5])} ms, slowest of 12 ${String(sorted[11])} ms\n`,
      );
      expect(sorted[11]).toBeLessThan(5_000);
    },
    TAKES_AT_MOST_MS,
  );
});

function itemAt(at: number): object {
  return {
    kind: 'approval',
    id: `step_${String(at)}`,
    tenant: 'demo',
    run_id: `run_${String(at)}`,
    capability: 'payments.issue_refund',
    reason: 'HIGH_IMPACT',
    owner: 'role:approver',
    runbook: null,
    required_approvals: 1,
    approvals: 0,
    opened_at: at,
    deadline_at: Date.now() + 60_000 * (at + 1),
    is_overdue: false,
    way_out: '',
  };
}

function lineageOf(commits: number): object {
  const idOf = (at: number): string => (at === 0 ? 'root' : `cp_${String(at)}`);
  return {
    nodes: Array.from({ length: commits }, (_, at) => ({
      id: idOf(at),
      run_id: `run_${String(Math.floor(at / 100))}`,
      kind: 'commit',
      agent: 'agent',
      label: `step ${String(at)}`,
      subject_ref: null,
      state: at % 7 === 0 ? 'rolled_back' : 'standing',
      told: [],
      silent: [],
    })),
    edges: Array.from({ length: commits - 1 }, (_, at) => ({
      from: idOf(Math.floor(at / 3)),
      to: idOf(at + 1),
      kind: 'derived',
    })),
    truncated: false,
  };
}
