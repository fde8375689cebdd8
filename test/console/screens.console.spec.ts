// Every screen, light, dark and narrow: usable without eyes or a mouse, and drawn for docs/console.md; and a storm on them.
import { describe, expect, it } from '@jest/globals';
import type { Page } from 'playwright-core';
import { NARROW, picture, signInAs, takeSeat, violationsOn } from './browser.testing.js';
import { deskOf } from './desk.testing.js';
import { itemsOf, TENANT, until } from './system.testing.js';
import type { Case } from './system.testing.js';

const TAKES_AT_MOST_MS = 240_000;

/** Rollbacks with evidence of their own that open a breaker: half of it on each of two partitions. */
const STORM_LIMIT = 4;

let step: Case;
let autonomyId: string;

const STORMY = {
  envOf: { 'mutation-ledger': { RECOURSE_STORM_LIMIT: String(STORM_LIMIT), RECOURSE_STORM_WINDOW_MS: '600000' } },
};
const desk = deskOf(STORMY, async (system) => {
  await system.registerContracts();
  step = await system.waiting();
  await system.said.signals.score({
    tenant: TENANT,
    agentId: 'refund-agent',
    taskKind: 'payments.issue_refund',
    score: 'eval_score',
    value: 0.9,
    statedAt: Date.now(),
  });
  autonomyId = await until('what the agent has earned', async () => {
    const [row] = itemsOf(await system.get('budget', '/v1/autonomy'));
    return row === undefined ? null : String(row['autonomy_id']);
  });
  await system.drill();
});

/** By name of the picture: where the screen is, and what stands on it once it is there. */
const screens = (): readonly (readonly [name: string, path: string, there: string])[] => [
  ['inbox', '/', 'payments.issue_refund'],
  ['review', `/reviews/${step.stepId}`, 'What you can do'],
  ['runs', '/runs', 'refund-agent'],
  ['run', `/runs/${step.runId}`, 'The way back was bound'],
  ['lineage', `/lineage/${step.mutationId}`, 'As a table'],
  ['exposure', '/exposure', 'How far agents may go alone'],
  ['autonomy', `/autonomy/${autonomyId}`, 'eval score'],
  ['contracts', '/contracts', 'payments.get_refund'],
  ['contract', '/contracts/payments.issue_refund', 'In full'],
  ['drafts', '/contracts/draft', 'Who answers for them'],
  ['parties', '/parties', 'Receivers of notices'],
  ['workers', '/workers', 'Every path is as its contract says.'],
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
      const { page, faults } = await takeSeat(desk.browser, options);
      await page.goto(desk.system.console);
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      const found: string[] = (await violationsOn(page)).map((one) => `welcome ${one}`);
      await signInAs(page, desk.system.console, 'mira');
      for (const [screen, path, there] of screens()) {
        await page.goto(`${desk.system.console}${path}`);
        await page.getByText(there).first().waitFor();
        found.push(...(await violationsOn(page)).map((one) => `${screen} ${one}`));
        const isTooWide = await page.evaluate<boolean>(
          'document.documentElement.scrollWidth > document.documentElement.clientWidth',
        );
        expect([screen, isTooWide]).toEqual([screen, false]);
        await picture(page, `${screen}-${name}`);
      }
      await page.goto(`${desk.system.console}/reviews/${step.stepId}`);
      await page.getByRole('button', { name: 'Approve' }).click();
      await page.getByRole('alertdialog').waitFor();
      found.push(...(await violationsOn(page)).map((one) => `window ${one}`));
      expect(found).toEqual([]);
      expect(faults).toEqual([]);
    },
    TAKES_AT_MOST_MS,
  );
});

/** As a tool list of the Model Context Protocol has it. */
const TOOL_LIST = {
  tools: [
    {
      name: 'sendParcel',
      description: 'Sends a parcel to a customer.',
      inputSchema: { type: 'object', properties: { order: { type: 'string' } } },
      annotations: { destructiveHint: false },
    },
  ],
};

describe('a tool list', () => {
  it(
    'becomes drafts that say what a person has to decide; what is wrong with one is told, and stays as it was typed',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'ravi', '/contracts/draft');
      const document = page.getByLabel(/^Tool list/);
      await document.fill('{ no json');
      await page.getByRole('button', { name: 'Draft', exact: true }).click();
      await page.getByText('The text is not JSON.').waitFor();
      await document.fill(JSON.stringify(TOOL_LIST));
      await page.getByLabel(/^Adapter/).fill('logistics');
      await page.getByRole('button', { name: 'Draft', exact: true }).click();
      const draft = page.getByRole('region', { name: 'logistics.send_parcel' });
      await draft.getByText(/What compensates it/).waitFor();
      await draft.getByRole('button', { name: 'Register logistics.send_parcel' }).click();
      const window = page.getByRole('alertdialog');
      await window.getByRole('button', { name: 'Register logistics.send_parcel' }).click();
      await window.getByText('/draft').waitFor();
      await page.reload();
      expect(await document.inputValue()).toBe(JSON.stringify(TOOL_LIST));
    },
    TAKES_AT_MOST_MS,
  );
});

describe('a drill of a source', () => {
  it(
    'shows what would fall and whether anybody is asked, says so before, and states nothing',
    async () => {
      const ref = `order/${desk.system.word()}#not_shipped`;
      await desk.system.refund({ relies: [ref] });
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira', '/parties');
      const card = page.getByRole('region', { name: 'Drill of a source' });
      await card.getByText('Nothing is stated, recorded or told, and nobody is asked.').waitFor();
      await card.getByLabel('Source, as its token').fill('critic');
      await card.getByLabel('Assumption that would be false').fill(ref);
      await card.getByRole('button', { name: 'Show what would fall' }).click();
      const told = card.getByRole('status', { name: 'What would fall' });
      await told.getByText('1 commit relies on it.').waitFor();
      await told.getByText('1 commit of 1 run falls: 1 has an effect outside, 0 have none.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await card.getByLabel('Assumption that would be false').fill('order/none#at_all');
      await card.getByRole('button', { name: 'Show what would fall' }).click();
      await card.getByText('Nothing would fall: no commit on record relies on this by its name.').waitFor();
      const stated = await desk.system.get('ledger', `/v1/assumptions?ref=${encodeURIComponent(ref)}`);
      expect(itemsOf(stated)).toEqual([]);
    },
    TAKES_AT_MOST_MS,
  );
});

describe('a storm', () => {
  it(
    'opens a breaker that waits in the inbox; what it holds goes on once somebody closes it',
    async () => {
      const orders = Array.from({ length: 6 }, () => `order/${desk.system.word()}#not_shipped`);
      for (const order of orders) await desk.system.refund({ relies: [order] });
      for (const order of orders) await desk.system.says(order);
      const held = async (): Promise<number> =>
        itemsOf(await desk.system.get('ledger', '/v1/rollbacks?phase=held')).length;
      await until('a held trigger', async () => ((await held()) > 0 ? true : null));
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira', '/parties');
      const storms = page.getByRole('region', { name: 'Storms and breakers' });
      await storms.getByText('open', { exact: true }).first().waitFor();
      await picture(page, 'storm');
      // Over the source and over the tenant, on each of two partitions, in whichever order; what goes on may open one over the capability.
      await until(
        'nothing held',
        async () => (((await held()) === 0 || (await closeOne(page))) && (await held()) === 0 ? true : null),
        TAKES_AT_MOST_MS / 2,
      );
      await page.goto(`${desk.system.console}/parties`);
      const closed = page.getByRole('region', { name: 'Breakers that were closed' });
      await closed.getByText('mira').first().waitFor();
      const runsOf = async (state: string): Promise<readonly string[]> =>
        itemsOf(await desk.system.get('ledger', `/v1/breakers?state=${state}`)).map((one) => String(one['run_id']));
      // Whoever closed one closed it on every partition, and the inbox asks about none that is closed.
      await until('the inbox to ask about what is open', async () => {
        const asked = itemsOf(await desk.system.get('notifier', '/v1/items?kind=breaker')).map(({ run_id }) =>
          String(run_id),
        );
        return asked.toSorted().join() === (await runsOf('open')).toSorted().join() ? true : null;
      });
      expect(await closed.getByRole('row').count()).toBe(1 + (await runsOf('closed')).length);
    },
    TAKES_AT_MOST_MS,
  );
});

/** Closes the first breaker of the inbox, as a person does. */
async function closeOne(page: Page): Promise<boolean> {
  await page.goto(`${desk.system.console}/?kind=breaker`);
  await page.locator('a[href^="/items/breaker/"]').first().click({ timeout: 10_000 });
  await page.getByRole('button', { name: 'Close the breaker' }).click({ timeout: 10_000 });
  await page.getByLabel('Why, in your words').fill('the carrier was down');
  const window = page.getByRole('alertdialog');
  await window.getByRole('button', { name: 'Close the breaker' }).click();
  await window.waitFor({ state: 'hidden' });
  return true;
}
