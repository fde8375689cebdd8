// People decide in the browser, on the real stack: one, two, with the keyboard alone, and while the world changes under them.
import { describe, expect, it } from '@jest/globals';
import { CONTRACTS, playStory } from '@recourse/example-drifted-refund';
import type { Page } from 'playwright-core';
import { picture, signInAs, signInWith, takeSeat } from './browser.testing.js';
import { deskOf } from './desk.testing.js';
import { itemsOf, LEELA, RAVI, TENANT, until } from './system.testing.js';
import type { Case, Person } from './system.testing.js';

const TAKES_AT_MOST_MS = 240_000;
/** A window that closes while somebody looks, and not before they came. */
const BRIEF_MS = 45_000;

const desk = deskOf({}, () => Promise.resolve());

/** Far above the ceiling of the run. */
const RESERVED = {
  capability: 'payments.issue_refund',
  agent_id: 'refund-agent',
  initiator: 'asha',
  objective: 'give the money back',
  values: [{ amount_minor: 120_000, currency: 'INR' }],
};
const AGENT: Person = { subject: 'refund-agent', roles: ['agent'] };

const say = (page: Page, why: string): Promise<void> => page.getByLabel('Why, in your words').fill(why);
const phaseOf = async ({ stepId }: Pick<Case, 'stepId'>): Promise<unknown> =>
  (await desk.system.get('orchestrator', `/v1/steps/${stepId}`))['phase'];

describe('the console', () => {
  it(
    'lets a newcomer follow the drifted refund and approve it, without a reload and without a document',
    async () => {
      const { page, faults } = await takeSeat(desk.browser);
      await page.goto(desk.system.console);
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Recourse');
      await picture(page, 'welcome');
      await signInAs(page, desk.system.console, 'mira');
      await page.getByText('Nothing waits for anybody.').waitFor();
      await picture(page, 'inbox-empty');
      const story = playStory({
        urls: desk.system.plan.urls,
        scenario: 'refund',
        breakMode: null,
        interactive: () => new Promise(() => undefined),
        say: () => undefined,
      });
      const row = page.getByRole('link', { name: /payments\.issue_refund/ });
      await row.waitFor({ timeout: TAKES_AT_MOST_MS });
      expect(await row.textContent()).toContain('INR');
      await picture(page, 'inbox');
      await row.click();
      await page.getByRole('heading', { name: /Undo payments\.issue_refund/ }).waitFor();
      const facts = page.getByRole('region', { name: 'Facts, then and now' });
      expect(await facts.textContent()).toContain('not_shipped');
      expect(await facts.textContent()).toContain('"status": "shipped"');
      expect(await page.getByRole('region', { name: 'What would be done' }).textContent()).toContain(
        'payments.reverse_refund',
      );
      await picture(page, 'review');
      await page.getByRole('button', { name: 'Approve' }).click();
      const window = page.getByRole('alertdialog');
      expect(await window.textContent()).toContain('payments.reverse_refund is called');
      expect(await window.textContent()).toContain('Yours is the last agreement');
      await say(page, 'the goods are on their way');
      await picture(page, 'approve');
      await window.getByRole('button', { name: 'Approve' }).click();
      await window.waitFor({ state: 'hidden' });
      await page.getByText('compensated', { exact: true }).first().waitFor({ timeout: TAKES_AT_MOST_MS });
      const { ok, checks } = await story;
      expect(checks.filter((check) => !check.ok)).toEqual([]);
      expect(ok).toBe(true);
      await page.getByRole('link', { name: /run_/ }).first().click();
      await page.getByText('Agreed', { exact: true }).waitFor();
      await picture(page, 'run');
      expect(faults).toEqual([]);
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'wants two people where nobody answers for an action, and no one person twice',
    async () => {
      const step = await desk.system.waiting({ initiator: null });
      const path = `/reviews/${step.stepId}`;
      const [mira, omar] = await Promise.all([takeSeat(desk.browser), takeSeat(desk.browser)]);
      await signInAs(mira.page, desk.system.console, 'mira', path);
      await signInAs(omar.page, desk.system.console, 'omar', path);
      await approve(mira.page, 'first');
      await mira.page.getByText('Still 1 of 2').waitFor();
      // The other sees it without a reload.
      await omar.page.getByText('Still 1 of 2').waitFor();
      expect(await whyNot(mira.page)).toMatch(/approved|agreed/);
      await approve(omar.page, 'second');
      await until('the compensation', async () => ((await phaseOf(step)) === 'compensated' ? true : null));
      await mira.page.getByText('compensated', { exact: true }).first().waitFor();
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'sends nothing once the step has changed under the reader, and keeps what was typed',
    async () => {
      const step = await desk.system.waiting();
      const path = `/reviews/${step.stepId}`;
      const [mira, omar] = await Promise.all([takeSeat(desk.browser), takeSeat(desk.browser)]);
      await signInAs(mira.page, desk.system.console, 'mira', path);
      await signInAs(omar.page, desk.system.console, 'omar', path);
      await mira.page.getByRole('button', { name: 'Approve' }).click();
      await say(mira.page, 'I have read it all');
      await omar.page.getByRole('button', { name: 'Deny' }).click();
      await say(omar.page, 'no');
      await omar.page.getByRole('alertdialog').getByRole('button', { name: 'Deny' }).click();
      const window = mira.page.getByRole('alertdialog');
      await window.getByText('This changed while you were reading.').waitFor();
      expect(await window.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
      expect(await mira.page.getByLabel('Why, in your words').inputValue()).toBe('I have read it all');
      await picture(mira.page, 'changed');
      expect(
        itemsOf(await desk.system.get('ledger', `/v1/mutations?run_id=${step.runId}`))[0]?.['recoverability'],
      ).not.toBe('compensated');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'counts down to the end of the window, and lets nobody approve once it closed while they looked',
    async () => {
      const refund = CONTRACTS.find(({ name }) => name === 'payments.issue_refund');
      const capability = 'payments.issue_brief_refund';
      await desk.system.post(
        'registry',
        '/v1/contracts',
        { ...refund, name: capability, reversal_window_ms: BRIEF_MS },
        RAVI,
      );
      const step = await desk.system.waiting({ capability });
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira', `/reviews/${step.stepId}`);
      const clock = page.getByRole('region', { name: 'Time' });
      await clock
        .getByText(/^\d+ s$/)
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'Approve' }).click();
      await say(page, 'a moment, please');
      const window = page.getByRole('alertdialog');
      await window.getByText('This changed while you were reading.').waitFor({ timeout: 2 * BRIEF_MS });
      expect(await window.getByRole('button', { name: 'Approve' }).isDisabled()).toBe(true);
      await window.getByRole('button', { name: 'Not now' }).click();
      await clock.getByText('no more: the window is closed').waitFor();
      expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
      expect(await phaseOf(step)).toBe('manual');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'shows the refusal of a service as a sentence, where the digest is another one',
    async () => {
      const step = await desk.system.waiting();
      const { page } = await takeSeat(desk.browser);
      // The page is shown another digest than the service holds: what it sends is what was on the screen.
      await page.route(`**/api/recoveries/v1/reviews/${step.stepId}`, async (route) => {
        const answer = await route.fetch();
        await route.fulfill({
          response: answer,
          json: { ...((await answer.json()) as object), action_digest: 'f'.repeat(64) },
        });
      });
      await signInAs(page, desk.system.console, 'mira', `/reviews/${step.stepId}`);
      await approve(page, 'fine');
      await page.getByText('The action is another one than you were looking at.').waitFor();
      expect(await page.getByRole('alertdialog').textContent()).toContain('DIGEST_MISMATCH');
      expect(await phaseOf(step)).toBe('awaiting_approval');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'tells who acted that they may not approve it',
    async () => {
      const step = await desk.system.waiting({ initiator: 'asha' });
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'asha', `/reviews/${step.stepId}`);
      expect(await whyNot(page)).toMatch(/own action|on (their|your) behalf/);
      expect(await phaseOf(step)).toBe('awaiting_approval');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'is worked with the keyboard alone, from the inbox to the decision',
    async () => {
      const step = await desk.system.waiting();
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira', `/?find=${step.runId}`);
      await page
        .getByRole('link', { name: new RegExp('payments') })
        .first()
        .waitFor();
      await page.keyboard.press('?');
      await page.getByRole('dialog').getByText('approve: opens').waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /Undo/ }).waitFor();
      await page.keyboard.press('d');
      await page.getByRole('alertdialog').waitFor();
      await tabTo(page, 'textarea');
      await page.keyboard.type('the customer may keep it');
      await tabTo(page, 'button[type=submit]');
      await page.keyboard.press('Enter');
      await page.getByRole('alertdialog').waitFor({ state: 'hidden' });
      await until('the denial', async () => ((await phaseOf(step)) === 'awaiting_approval' ? null : true));
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'previews an undo, has it confirmed, and reports truthfully what became of it',
    async () => {
      const refund = await desk.system.refund();
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'leela', `/runs/${refund.runId}`);
      await page.getByText('An undo of this run, as things stand:').waitFor();
      await page.getByRole('button', { name: 'Undo this run' }).click();
      const window = page.getByRole('alertdialog');
      expect(await window.textContent()).toContain('1 effect is compensated');
      await say(page, 'the customer changed their mind');
      await window.getByRole('button', { name: 'Undo this run' }).click();
      const report = page.getByRole('region', { name: 'Report of an undo' });
      await report.getByText('1 still open').waitFor({ timeout: TAKES_AT_MOST_MS });
      await picture(page, 'undo');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'sends no undo and no trigger once the run has changed under the reader',
    async () => {
      const refund = await desk.system.refund();
      const [run, lineage] = [await takeSeat(desk.browser), await takeSeat(desk.browser)];
      await signInAs(run.page, desk.system.console, 'leela', `/runs/${refund.runId}`);
      await signInAs(lineage.page, desk.system.console, 'leela', `/lineage/${refund.mutationId}`);
      const seats = [
        [run.page, 'Undo this run'],
        [lineage.page, 'Say that it should not stand'],
      ] as const;
      for (const [page, name] of seats) {
        await page.getByRole('button', { name }).click();
        await say(page, 'the customer changed their mind');
      }
      const asked = { run_id: refund.runId, reason: 'somebody was first' };
      await desk.system.post('ledger', '/v1/undos', asked, { subject: 'asha', roles: ['requester'] });
      for (const [page, name] of seats) {
        const window = page.getByRole('alertdialog');
        await window.getByText('This changed while you were reading.').waitFor();
        expect(await window.getByRole('button', { name }).isDisabled()).toBe(true);
        await window.getByRole('button', { name: 'Not now' }).click();
        expect(await page.getByRole('button', { name }).isDisabled()).toBe(true);
      }
      expect(itemsOf(await desk.system.get('ledger', `/v1/undos?run_id=${refund.runId}`))).toHaveLength(1);
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'never says of a command whose answer was lost that nothing was sent, and repeats it under its key',
    async () => {
      const refund = await desk.system.refund();
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'leela', `/runs/${refund.runId}`);
      const undos = () => desk.system.get('ledger', `/v1/undos?run_id=${refund.runId}`);
      const keys: (string | undefined)[] = [];
      await page.route('**/api/ledger/v1/undos', async (route) => {
        if (route.request().method() !== 'POST') return route.fallback();
        keys.push(route.request().headers()['idempotency-key']);
        const answer = await route.fetch();
        // The ledger has it, and the undo is on record before anybody here hears of it.
        await until('the undo', async () => (itemsOf(await undos()).length > 0 ? true : null));
        return keys.length === 1 ? route.abort() : route.fulfill({ response: answer });
      });
      await page.getByRole('button', { name: 'Undo this run' }).click();
      await say(page, 'the customer changed their mind');
      const window = page.getByRole('alertdialog');
      const send = window.getByRole('button', { name: 'Undo this run' });
      await send.click();
      await window.getByText('CONSOLE_AWAY').waitFor();
      // Behind the window the page has read by now what the undo made of the run.
      await page.getByText('is under way already').waitFor();
      expect(await window.getByRole('alert').allTextContents()).toEqual([expect.stringContaining('CONSOLE_AWAY')]);
      await send.click();
      await window.waitFor({ state: 'hidden' });
      expect(keys).toEqual([keys[0], keys[0]]);
      expect(itemsOf(await undos())).toHaveLength(1);
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'opens a run whose name no path can hold, and previews its undo',
    async () => {
      for (const run of ['..', 'a/../b?c#d%2F']) {
        await desk.system.refund({ run });
        const { page } = await takeSeat(desk.browser);
        await signInAs(page, desk.system.console, 'leela', `/runs?id=${encodeURIComponent(run)}`);
        await page.getByRole('button', { name: 'Find' }).click();
        await page.getByRole('heading', { name: `Run ${run}` }).waitFor();
        await page.reload();
        await page.getByRole('heading', { name: `Run ${run}` }).waitFor();
        await page.getByText('An undo of this run, as things stand:').waitFor();
        expect(await page.getByRole('region', { name: 'Undo' }).textContent()).toContain('payments.issue_refund');
      }
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'raises a ceiling for one question alone, says so before, and sends the digest of what was read',
    async () => {
      const run = `run-${desk.system.word()}`;
      const ceiling = { scope: 'run', scope_id: run, currency: 'INR', ceiling_minor: 5_000 };
      await desk.system.post('budget', '/v1/budgets', ceiling, LEELA);
      await desk.system.post(
        'budget',
        '/v1/reservations',
        { ...RESERVED, run_id: run, effect_key: `eff-${run}` },
        AGENT,
      );
      const asked = async () => itemsOf(await desk.system.get('budget', `/v1/escalations?run_id=${run}`))[0] ?? {};
      const { reservation_id: id, action_digest: digest } = await asked();
      const { page } = await takeSeat(desk.browser);
      await signInWith(page, desk.system.console, { subject: 'dana', tenant: TENANT, roles: 'approver budget_owner' });
      await page.goto(`${desk.system.console}/items/budget/${String(id)}?run=${run}`);
      await page.getByRole('button', { name: 'Raise once' }).click();
      const window = page.getByRole('alertdialog');
      expect(await window.textContent()).toMatch(
        /ceiling of debt of the run .* rises by .* as long as this action counts/,
      );
      await say(page, 'a large customer');
      await picture(page, 'raise-once');
      const sent = page.waitForRequest((request) => request.url().endsWith('/decide'));
      await window.getByRole('button', { name: 'Raise once' }).click();
      expect((await sent).postDataJSON()).toMatchObject({ approved: true, raise_once: true, action_digest: digest });
      await window.waitFor({ state: 'hidden' });
      await until('the word', async () => ((await asked())['phase'] === 'approved' ? true : null));
      const [budget] = itemsOf(await desk.system.get('budget', `/v1/budgets?scope=run&scope_id=${run}`));
      expect(Number(budget?.['raised_minor'])).toBeGreaterThan(0);
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'stops a capability, and lets it go again, by typing the name of the switch',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira', '/audit');
      await page.getByLabel('Which').fill('payments.issue_instant_refund');
      await page.getByRole('button', { name: 'Stop it' }).click();
      const window = page.getByRole('alertdialog');
      await window.getByLabel('How bad').selectOption('sev4');
      await window.getByLabel('Where it is written').fill('https://runbooks.example.com/stop');
      await say(page, 'a drill');
      expect(await window.getByRole('button', { name: 'Stop it' }).isDisabled()).toBe(true);
      await window.getByLabel('To be sure').fill('stop-capability-payments.issue_instant_refund of demo');
      await window.getByRole('button', { name: 'Not now' }).click();
      await page.getByRole('button', { name: 'Stop it' }).click();
      expect(await window.getByLabel('To be sure').inputValue()).toBe('');
      expect(await window.getByLabel('How bad').inputValue()).toBe('sev4');
      await window.getByLabel('To be sure').fill('stop-capability-payments.issue_instant_refund of demo');
      await window.getByRole('button', { name: 'Stop it' }).click();
      await window.waitFor({ state: 'hidden' });
      await page.getByRole('cell', { name: 'a drill' }).waitFor();
      await picture(page, 'health');
      await page.getByRole('button', { name: /^Lift/ }).click();
      await page.getByLabel('To be sure').fill('stop-capability-payments.issue_instant_refund of demo');
      await say(page, 'the drill is over');
      await page.getByRole('alertdialog').getByRole('button', { name: /^Lift/ }).click();
      await page.getByText('No switch is set: nothing is stopped.').waitFor();
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'shows a tenant nothing of another, by whichever address',
    async () => {
      const step = await desk.system.waiting();
      const { page } = await takeSeat(desk.browser);
      await signInWith(page, desk.system.console, { subject: 'eve', tenant: 'globex', roles: 'approver operator' });
      await page.getByText('Nothing waits for anybody.').waitFor();
      for (const path of [`/reviews/${step.stepId}`, `/lineage/${step.mutationId}`]) {
        await page.goto(`${desk.system.console}${path}`);
        await page.getByText('There is nothing under this name, or it belongs to another tenant.').first().waitFor();
        expect(await page.content()).not.toContain('give the money back');
      }
      const answer = await page.request.get(`${desk.system.console}/api/recoveries/v1/reviews?tenant=demo`);
      expect([answer.status(), ((await answer.json()) as { code: string }).code]).toEqual([403, 'TENANT_FOREIGN']);
    },
    TAKES_AT_MOST_MS,
  );
});

/** What the button says that cannot be pressed. */
async function whyNot(page: Page): Promise<string> {
  const button = page.getByRole('button', { name: 'Approve', disabled: true });
  await button.waitFor();
  const id = (await button.getAttribute('aria-describedby')) ?? '';
  return (await page.locator(`[id="${id}"]`).textContent()) ?? '';
}

async function approve(page: Page, why: string): Promise<void> {
  await page.getByRole('button', { name: 'Approve' }).click();
  await say(page, why);
  await page.getByRole('alertdialog').getByRole('button', { name: 'Approve' }).click();
}

const TABS_MAX = 20;

/** Presses Tab until the focus is where it is wanted. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    if ((await page.locator(`${selector}:focus`).count()) > 0) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${selector}`);
}
