// Figures of the console: what a browser loads, how soon it shows what, and that ten thousand things stay readable. Each is printed with
// the load of the machine; a gate has room for a busy one, and docs/console.md says what a quiet one has.
import { describe, expect, it } from '@jest/globals';
import { readdirSync, statSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { root } from '../../scripts/lib/paths.mjs';
import { picture, signInAs, takeSeat } from './browser.testing.js';
import { deskOf } from './desk.testing.js';
import { FRAMES, itemAt, KEEPS_DRAWN, lineageLoad, percentile, whenShown } from './figures.testing.js';
import { until } from './system.testing.js';

const TAKES_AT_MOST_MS = 300_000;

const desk = deskOf();

/** A line that the lane shows; people copy it to docs/console.md. */
function figure(line: string): void {
  const [load = 0] = loadavg();
  process.stdout.write(`figure: ${line} (load ${load.toFixed(1)} on ${String(cpus().length)} cores)\n`);
}

/** Milliseconds since the page began to load, as the page has them. */
const sinceStart = (page: Page): Promise<number> => page.evaluate<number>('Math.round(performance.now())');

const ASSETS = join(root, 'apps', 'console', 'dist', 'page-files', 'assets');
const SCRIPT_BYTES_MAX = 250 * 1_024;

describe('the first load', () => {
  it(
    'holds at most 250 KB of script, and the graph library is not in it',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      const loaded = new Set<string>();
      page.on('request', (request) => {
        const { pathname } = new URL(request.url());
        if (pathname.endsWith('.js')) loaded.add(pathname.split('/').at(-1) ?? '');
      });
      await page.goto(desk.system.console);
      await page.getByText('What waits for a person').waitFor();
      const bytes = [...loaded].reduce((sum, file) => sum + statSync(join(ASSETS, `${file}.gz`)).size, 0);
      figure(`first load ${String(Math.round(bytes / 1_024))} KB of script, gzipped; at most 250`);
      expect(bytes).toBeLessThan(SCRIPT_BYTES_MAX);
      expect([...loaded].filter((file) => file.startsWith('lineage'))).toEqual([]);
      expect(readdirSync(ASSETS).some((file) => /^lineage-.*\.js$/.test(file))).toBe(true);
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'is usable soon: the inbox is there and answers keys',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      const took: number[] = [];
      for (let count = 0; count < 5; count += 1) {
        await page.goto(desk.system.console, { waitUntil: 'commit' });
        await page.getByText('Nothing waits for anybody.').waitFor();
        await page.getByText('Live', { exact: true }).waitFor();
        await page.keyboard.press('?');
        await page.getByRole('dialog').waitFor();
        took.push(await sinceStart(page));
      }
      figure(`usable after ${String(percentile(took, 0.5))} ms in the middle of 5 loads; wanted 1,500`);
      expect(percentile(took, 0.5)).toBeLessThan(USABLE_MS_MAX);
    },
    TAKES_AT_MOST_MS,
  );
});

/** Gates, each some times what is wanted: the machine may be busy, and a break is worse than busy. */
const USABLE_MS_MAX = 6_000;
const VISIBLE_MS_MAX = 3_000;
const LINEAGE_MS_MAX = 4_000;
const FRAME_MS = 1_000 / 60;

describe('an effect', () => {
  it(
    'is on the screen soon after it was accepted, while 200 records a second are offered',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira', '/runs');
      await page.getByText('What agents did').waitFor();
      const { runId, mutationId } = await desk.system.refund();
      const load = lineageLoad(desk.system, { runId, mutationId }, { commits: 200 * OFFERED_S, perSecond: 200 });
      const delays: number[] = [];
      while (!load.isOver()) delays.push(await visibleAfter(page));
      const { seconds } = await load.done;
      const accepted = await commitsOf(mutationId);
      const [p50, p95] = [0.5, 0.95].map((part) => String(percentile(delays, part)));
      figure(
        `from accepted to visible ${String(p50)} ms p50, ${String(p95)} ms p95 of ${String(delays.length)} effects, at ${String(Math.round((200 * OFFERED_S) / seconds))} records/s offered and ${String(Math.round(accepted / seconds))}/s accepted; wanted 300 ms p95 at 200/s`,
      );
      expect(percentile(delays, 0.95)).toBeLessThan(VISIBLE_MS_MAX);
    },
    TAKES_AT_MOST_MS,
  );
});

const OFFERED_S = 30;

describe('ten thousand', () => {
  it(
    'items wait: few rows are drawn, and the list scrolls frame by frame',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await page.route('**/api/notifier/v1/items?**', (route) => {
        const at = Number(new URL(route.request().url()).searchParams.get('cursor') ?? '0');
        const items = Array.from({ length: 500 }, (_, index) => itemAt(at + index));
        return route.fulfill({ json: { items, next_cursor: at + 500 >= 10_000 ? null : String(at + 500) } });
      });
      await signInAs(page, desk.system.console, 'mira');
      await page.getByText('10,000 items').waitFor({ timeout: 60_000 });
      expect(await page.getByRole('listitem').count()).toBeLessThan(60);
      const { frames, late, longest, cpuMs } = await scrolled(page);
      figure(
        `inbox of 10,000: ${cpuMs.toFixed(1)} ms of the page's thread for each of ${String(frames)} frames while it scrolls through all, ${String(late)} of them late, the longest ${String(longest)} ms; wanted none late`,
      );
      // Who has a core to itself drops no frame that takes less than one; a busy machine makes the same work cost up to twice as much.
      expect(cpuMs).toBeLessThan(2 * FRAME_MS);
      await page.evaluate("document.querySelector('.rows').scrollTop = document.querySelector('.rows').scrollHeight");
      await page.locator('a[href="/reviews/step_9999"]').waitFor();
      await picture(page, 'inbox-10000');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'commits of a lineage are drawn by run, and opened',
    async () => {
      const { page, faults } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      const { runId, mutationId } = await desk.system.refund();
      const { seconds } = await lineageLoad(desk.system, { runId, mutationId }, { commits: COMMITS, perSecond: 1_000 })
        .done;
      await until(
        'all commits',
        async () => ((await commitsOf(mutationId)) > COMMITS ? true : null),
        TAKES_AT_MOST_MS / 2,
      );
      figure(`10,000 commits told to the broker in ${seconds.toFixed(1)} s`);
      await page.addInitScript(KEEPS_DRAWN);
      const took: number[] = [];
      for (let count = 0; count < 5; count += 1) took.push(await drawnAfter(page, mutationId));
      figure(
        `lineage of 10,000 first drawn ${took.map(String).join(', ')} ms after its link was followed; wanted 1,000`,
      );
      expect(Math.min(...took)).toBeLessThan(LINEAGE_MS_MAX);
      await picture(page, 'lineage-10000');
      const row = page.getByRole('button', { name: /^open .* commits of run/ }).nth(1);
      await row.click();
      await page
        .getByRole('button', { name: /^close run/ })
        .first()
        .waitFor();
      expect(await page.locator('.box').count()).toBeGreaterThan(0);
      expect(faults).toEqual([]);
    },
    TAKES_AT_MOST_MS,
  );
});

const COMMITS = 10_000;

interface Frames {
  readonly frames: number;
  readonly late: number;
  readonly longest: number;
}

/** Scrolls through the inbox, and says what the page's thread had to do for a frame: its own time, not that of others on the machine. */
async function scrolled(page: Page): Promise<Frames & { readonly cpuMs: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busyMs = async (): Promise<number> => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  };
  const before = await busyMs();
  const seen = await page.evaluate<Frames>(FRAMES);
  const cpuMs = ((await busyMs()) - before) / seen.frames;
  await session.detach();
  return { ...seen, cpuMs };
}

/** How many commits the ledger has around one. */
async function commitsOf(mutationId: string): Promise<number> {
  return Number((await desk.system.get('ledger', `/v1/lineage/${mutationId}/boxes`))['commits']);
}

/** Milliseconds from when an effect was accepted to when its row is on the screen of somebody who looks. */
async function visibleAfter(page: Page): Promise<number> {
  const order = `console-${desk.system.word()}`;
  const seen = page.evaluate<number>(whenShown(`/runs/run-${order}`));
  const { mutationId } = await desk.system.refund({ order });
  const shownAt = await seen;
  const row = await desk.system.get('ledger', `/v1/mutations/${mutationId}`);
  return shownAt - Number(row['created_at']);
}

/** Milliseconds from when an address was followed to the frame with the first box; the page keeps it. */
async function drawnAfter(page: Page, mutationId: string): Promise<number> {
  await page.goto(`${desk.system.console}/lineage/${mutationId}`, { waitUntil: 'commit' });
  return page.evaluate<number>('globalThis.drawn');
}
