// What stands on a screen is what is so, and a window stays the one that its person opened.
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { signInAs, takeSeat } from './browser.testing.js';
import { deskOf } from './desk.testing.js';
import { itemsOf, TENANT, until } from './system.testing.js';

const TAKES_AT_MOST_MS = 240_000;

const desk = deskOf();

const say = (page: Page, why: string): Promise<void> => page.getByLabel('Why, in your words').fill(why);

describe('the window that freezes an agent', () => {
  it(
    'stays one that freezes, whoever froze the agent meanwhile, and repeats one whose answer was lost',
    async () => {
      const { system } = desk;
      const told = { tenant: TENANT, agentId: 'refund-agent', taskKind: 'payments.issue_refund', statedAt: Date.now() };
      await system.said.signals.score({ ...told, score: 'eval_score', value: 0.9 });
      const id = await until('what the agent has earned', async () => {
        const [row] = itemsOf(await system.get('budget', '/v1/autonomy'));
        return row === undefined ? null : String(row['autonomy_id']);
      });
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, system.console, 'mira', `/autonomy/${id}`);
      const window = page.getByRole('alertdialog');
      const send = window.getByRole('button', { name: 'Freeze', exact: true });
      await page.getByRole('button', { name: 'Freeze', exact: true }).click();
      await say(page, 'customers complain');
      await system.post('budget', `/v1/autonomy/${id}/freeze`, { reason: 'another was first' });
      await window.getByText('This changed while you were reading.').waitFor();
      expect(await send.isDisabled()).toBe(true);
      await window.getByRole('button', { name: 'Not now' }).click();
      await system.post('budget', `/v1/autonomy/${id}/unfreeze`, { reason: 'let go again' });
      const sent: string[] = [];
      await page.route(`**/api/budgets/v1/autonomy/${id}/*`, async (route) => {
        sent.push(`${route.request().url()} ${route.request().headers()['idempotency-key'] ?? ''}`);
        const answer = await route.fetch();
        return sent.length === 1 ? route.abort() : route.fulfill({ response: answer });
      });
      await page.getByRole('button', { name: 'Freeze', exact: true }).click();
      await send.click();
      await window.getByText('CONSOLE_AWAY').waitFor();
      await page.getByText('person', { exact: true }).waitFor();
      await send.click();
      await window.waitFor({ state: 'hidden' });
      expect(sent).toEqual([expect.stringContaining('/freeze '), sent[0]]);
      expect((await system.get('budget', `/v1/autonomy/${id}`))['frozen_by']).toBe('person');
    },
    TAKES_AT_MOST_MS,
  );
});

describe('what happened to a run', () => {
  it(
    'shows each planned step once, and who denied one with why, on its page and on that of its run',
    async () => {
      const { system } = desk;
      const runId = `run-${system.word()}`;
      for (let refunds = 0; refunds < 3; refunds += 1) await system.refund({ run: runId });
      await until('three ways back', async () => {
        const rows = itemsOf(await system.get('ledger', `/v1/mutations?run_id=${runId}`));
        return rows.filter(({ recoverability }) => recoverability === 'reversal_available').length === 3 ? rows : null;
      });
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, system.console, 'mira', `/runs/${runId}`);
      await page.getByText('The way back was bound').first().waitFor();
      const asked = { run_id: runId, reason: 'the customer changed their mind' };
      await system.post('ledger', '/v1/undos', asked, { subject: 'asha', roles: ['requester'] });
      const steps = await until('three reviews', async () => {
        const rows = itemsOf(await system.get('orchestrator', `/v1/reviews?run_id=${runId}`));
        return rows.filter(({ phase }) => phase === 'awaiting_approval').length === 3 ? rows : null;
      });
      const id = String(steps[0]?.['step_id']);
      const { action_digest } = await system.get('orchestrator', `/v1/reviews/${id}`);
      await system.post('orchestrator', `/v1/steps/${id}/deny`, { action_digest, reason: 'the customer keeps it' });
      await page.getByText('the customer keeps it').waitFor();
      expect(await page.getByText('Denied', { exact: true }).count()).toBe(1);
      expect(await page.getByText('Planned', { exact: true }).count()).toBe(3);
      await page.goto(`${system.console}/reviews/${id}`);
      const agreed = page.getByRole('region', { name: 'Who agreed' });
      await agreed.getByText('the customer keeps it').waitFor();
      expect(await agreed.textContent()).toContain('Denied by mira');
    },
    TAKES_AT_MOST_MS,
  );
});
