// What strangers, hostile texts and outages can do to the console: nothing that is not said.
import { describe, expect, it } from '@jest/globals';
import { HOSTILE_STRINGS } from '@recourse/testing';
import type { Page } from 'playwright-core';
import { picture, signInAs, takeSeat } from './browser.testing.js';
import { deskOf } from './desk.testing.js';
import { until } from './system.testing.js';

const TAKES_AT_MOST_MS = 240_000;

const desk = deskOf();

interface Session {
  readonly cookie: string;
  readonly csrf: string;
}

/** Signs in without a browser: what a program with a stolen address would have to do. */
async function sessionOf(page: Page): Promise<Session> {
  const cookies = await page.context().cookies(desk.system.console);
  const answer = await page.request.get(`${desk.system.console}/session`);
  return {
    cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    csrf: ((await answer.json()) as { readonly csrf: string }).csrf,
  };
}

describe('the session', () => {
  it(
    'keeps its token out of the page, and its cookie out of scripts',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      const [cookie] = await page.context().cookies(desk.system.console);
      expect(cookie).toMatchObject({ name: 'recourse_session', httpOnly: true, sameSite: 'Lax' });
      const held = await page.evaluate<string>(
        'JSON.stringify([document.cookie, Object.entries(localStorage), Object.entries(sessionStorage)])',
      );
      expect(held).not.toMatch(/eyJ|recourse_session/);
      expect(await (await page.request.get(`${desk.system.console}/session`)).text()).not.toMatch(/eyJ/);
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'takes a command only from a page of its own',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      const { cookie, csrf } = await sessionOf(page);
      const step = await desk.system.waiting();
      const send = async (headers: Readonly<Record<string, string>>): Promise<unknown> => {
        const answer = await fetch(`${desk.system.console}/api/recoveries/v1/steps/${step.stepId}/deny`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...headers },
          body: JSON.stringify({ action_digest: 'f'.repeat(64), reason: 'x' }),
        });
        return ((await answer.json()) as { readonly code: string }).code;
      };
      const word = { 'x-recourse-csrf': csrf };
      expect(await send({})).toBe('SESSION_MISSING');
      expect(await send({ cookie })).toBe('CSRF_REFUSED');
      expect(await send({ cookie, 'x-recourse-csrf': 'guessed' })).toBe('CSRF_REFUSED');
      expect(await send({ cookie, ...word, origin: 'https://elsewhere.example' })).toBe('CSRF_REFUSED');
      expect(await send({ cookie, ...word, 'sec-fetch-site': 'cross-site' })).toBe('CSRF_REFUSED');
      // Everything right but the digest: the service has the word.
      expect(await send({ cookie, ...word, origin: new URL(desk.system.console).origin })).toBe('DIGEST_MISMATCH');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'leads to the API of a service and to nothing else of it',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      const { cookie } = await sessionOf(page);
      for (const path of [
        '/api/ledger/metrics',
        '/api/ledger/v1/%2e%2e/metrics',
        '/api/ledger//example.com/v1/x',
        '/api/nowhere/v1/status',
      ]) {
        const answer = await fetch(`${desk.system.console}${path}`, { headers: { cookie } });
        expect([path, answer.status]).toEqual([path, 404]);
      }
    },
    TAKES_AT_MOST_MS,
  );
});

/** Pages of one browser, of one person. */
async function sideBySide(paths: readonly string[]): Promise<readonly Page[]> {
  const { page, context } = await takeSeat(desk.browser);
  const [first = '/', ...others] = paths;
  await signInAs(page, desk.system.console, 'mira', first);
  const pages = [page];
  for (const path of others) {
    const another = await context.newPage();
    await another.goto(`${desk.system.console}${path}`, { timeout: 30_000 });
    await another.getByText('Live', { exact: true }).waitFor({ timeout: 30_000 });
    pages.push(another);
  }
  return pages;
}

const SESSION_STATUS = "fetch('/session').then(({ status }) => status)";

describe('pages of one browser', () => {
  it(
    'leave each other room, however many they are: all are live, and a request of each is answered',
    async () => {
      const pages = await sideBySide(['/', '/runs', '/exposure', '/contracts', '/parties', '/workers', '/audit', '/']);
      expect(await Promise.all(pages.map((page) => page.evaluate<number>(SESSION_STATUS)))).toEqual(
        pages.map(() => 200),
      );
      const [first, ...others] = pages;
      await first?.close();
      const step = await desk.system.waiting();
      await others.at(-1)?.locator(`a[href="/reviews/${step.stepId}"]`).waitFor({ timeout: 30_000 });
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'are all signed out by one, and none of them signs anybody in again',
    async () => {
      const [one, other] = await sideBySide(['/', '/runs']);
      if (one === undefined || other === undefined) throw new Error('two pages were asked for');
      const asked: string[] = [];
      one.context().on('request', (request) => asked.push(new URL(request.url()).pathname));
      await one.getByRole('button', { name: 'Sign out' }).click();
      for (const page of [one, other]) {
        await page.getByRole('heading', { name: 'Recourse', level: 1 }).waitFor({ timeout: 30_000 });
        expect([page.url(), await page.evaluate<number>(SESSION_STATUS)]).toEqual([`${desk.system.console}/`, 401]);
      }
      expect(asked).not.toContain('/auth/sign-in');
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'say where signing out came to nothing, and go on',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      await page.route('**/auth/sign-out', (route) => route.abort());
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByText('you may still be signed in here').waitFor();
      await page.getByText('Live', { exact: true }).waitFor();
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'are not left while a command of theirs is on its way, and what came of it is read first',
    async () => {
      const step = await desk.system.waiting();
      const [page, other] = await sideBySide([`/reviews/${step.stepId}`, '/runs']);
      if (page === undefined || other === undefined) throw new Error('two pages were asked for');
      let answer = (): void => undefined;
      const isAsked = new Promise<void>((resolve) => {
        void page.route('**/steps/*/deny', async (route) => {
          const answered = new Promise<void>((go) => (answer = go));
          resolve();
          await answered;
          await route.fulfill({ status: 409, json: { code: 'STEP_WRONG_PHASE', detail: '' } });
        });
      });
      await page.getByRole('button', { name: 'Deny' }).click();
      const window = page.getByRole('alertdialog');
      await window.getByLabel('Why, in your words').fill('no');
      await window.getByRole('button', { name: 'Deny' }).click();
      await isAsked;
      await other.getByRole('button', { name: 'Sign out' }).click();
      // The bar behind the window says it already.
      await page.locator('.livebar', { hasText: 'You are not signed in any more.' }).waitFor({ timeout: 30_000 });
      await window.getByText('Sending').waitFor();
      answer();
      await window.getByText('This is past the point').waitFor();
      await window.getByRole('button', { name: 'Not now' }).click();
      await page.getByRole('heading', { name: 'Recourse', level: 1 }).waitFor({ timeout: 30_000 });
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'say that nobody is signed in any more once the console was restarted, and sign in again where they were',
    async () => {
      const pages = await sideBySide(['/runs', '/exposure']);
      await desk.system.processes.kill('console', 'SIGKILL');
      await desk.system.processes.start('console');
      for (const page of pages) await page.getByText('You are not signed in any more.').waitFor({ timeout: 60_000 });
      const [page, other] = pages;
      await page?.locator('.livebar').getByRole('button', { name: 'Sign in' }).click();
      await page?.getByRole('button', { name: /^mira\b/ }).click();
      await page?.getByRole('heading', { name: 'Runs', level: 1 }).waitFor();
      // The other goes on by itself, where it is.
      await other?.getByText('Live', { exact: true }).waitFor({ timeout: 30_000 });
      expect([page?.url(), other?.url()]).toEqual(
        ['/runs', '/exposure'].map((path) => `${desk.system.console}${path}`),
      );
    },
    TAKES_AT_MOST_MS,
  );
});

/** A script that stands in the document itself. */
const INLINE = `(() => {
  const script = document.createElement('script');
  script.append('globalThis.wasHere = true');
  document.body.append(script);
})()`;

interface ShownTexts {
  readonly unseen: boolean;
  readonly elements: readonly string[];
  readonly addresses: readonly string[];
}

/** What became of texts in the table, as the browser has it. */
const SHOWN_TEXTS = String.raw`(() => {
  const body = document.querySelector('tbody');
  const all = [...body.querySelectorAll('*')];
  return {
    unseen: /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/.test(body.textContent),
    elements: [...new Set(all.map(({ tagName }) => tagName.toLowerCase()))].sort(),
    addresses: [...body.querySelectorAll('a')].map((link) => link.protocol),
  };
})()`;

describe('the page', () => {
  it(
    'runs no script but its own files',
    async () => {
      const { page, faults } = await takeSeat(desk.browser);
      const answer = await page.goto(desk.system.console);
      const policy = answer?.headers()['content-security-policy'] ?? '';
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
      await page.evaluate(INLINE).catch(() => undefined);
      expect(await page.evaluate<boolean>("'wasHere' in globalThis")).toBe(false);
      expect(faults.join()).toMatch(/Content Security Policy|Trusted/i);
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'shows hostile texts as texts: nothing of them runs, loads, hides or turns around',
    async () => {
      const { page, faults } = await takeSeat(desk.browser);
      const strangers: string[] = [];
      page.on('request', (request) => {
        if (new URL(request.url()).origin !== new URL(desk.system.console).origin) strangers.push(request.url());
      });
      page.on('dialog', (dialog) => {
        strangers.push(dialog.message());
        void dialog.dismiss();
      });
      // The services refuse many of these; whatever comes through all the same must be inert.
      await page.route('**/api/ledger/v1/effects?**', (route) =>
        route.fulfill({
          json: {
            items: HOSTILE_STRINGS.map(({ text }, at) => ({
              mutation_id: `mut_${String(at)}`,
              run_id: text,
              capability: text,
              recoverability: text,
              created_at: at,
              updated_at: at,
              execution: { agent_id: text, value: { amount_minor: at, currency: text } },
            })),
            next_cursor: null,
          },
        }),
      );
      await signInAs(page, desk.system.console, 'mira');
      strangers.length = 0;
      await page.getByRole('link', { name: 'Runs' }).click();
      await page.getByRole('row').nth(HOSTILE_STRINGS.length).waitFor();
      expect(HOSTILE_STRINGS.length).toBeGreaterThan(200);
      const shown = await page.evaluate<ShownTexts>(SHOWN_TEXTS);
      expect(shown.unseen).toBe(false);
      expect(shown.elements).toEqual(['a', 'bdi', 'code', 'span', 'td', 'time', 'tr']);
      expect(new Set(shown.addresses)).toEqual(new Set(['http:']));
      expect(strangers).toEqual([]);
      expect(faults).toEqual([]);
      await picture(page, 'hostile');
    },
    TAKES_AT_MOST_MS,
  );
});

describe('live updates', () => {
  it(
    'that are lost are said to be, and go on where they stopped',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      await page.getByText('Live', { exact: true }).waitFor();
      const pid = desk.system.processes.pid('console') ?? 0;
      process.kill(pid, 'SIGSTOP');
      try {
        await page.getByText('Live updates were lost').waitFor({ timeout: 30_000 });
        await picture(page, 'stream-lost');
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      const step = await desk.system.waiting();
      await page.getByText('Live', { exact: true }).waitFor({ timeout: 30_000 });
      await page.locator(`a[href="/reviews/${step.stepId}"]`).waitFor({ timeout: 30_000 });
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'are resumed by position: who comes back is told of what moved, and who saw it all of nothing',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      const { cookie } = await sessionOf(page);
      const first = await nextEvent(cookie, null);
      expect(first.moved).toContain('ledger');
      await desk.system.waiting();
      const second = await nextEvent(cookie, first.id);
      expect(second.moved).toEqual(expect.arrayContaining(['ledger', 'recoveries']));
    },
    TAKES_AT_MOST_MS,
  );
});

describe('a service that is away', () => {
  it(
    'is named, nothing pretends, and what it knows comes back with it',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira', '/exposure');
      await page.getByRole('heading', { name: 'Ceilings' }).waitFor();
      await desk.system.processes.kill('budget-accountant', 'SIGKILL');
      try {
        await page.getByText('No answer from the budget accountant.').waitFor({ timeout: 30_000 });
        await page.reload();
        await page
          .getByRole('region', { name: 'Ceilings' })
          .getByText('The service does not answer.')
          .first()
          .waitFor({ timeout: 30_000 });
        await page.getByRole('region', { name: 'By capability' }).getByText('payments.issue_refund').waitFor();
        await picture(page, 'away');
      } finally {
        await desk.system.processes.start('budget-accountant');
      }
      await page.getByText('Live', { exact: true }).waitFor({ timeout: 60_000 });
      await until('the ceilings', async () =>
        (await page.getByRole('region', { name: 'Ceilings' }).getByRole('alert').count()) === 0 ? true : null,
      );
    },
    TAKES_AT_MOST_MS,
  );
});

describe('a reading that fails', () => {
  it(
    'is said above what was read before',
    async () => {
      const { runId } = await desk.system.refund();
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira', '/runs');
      const row = page.locator(`a[href="/runs/${runId}"]`).first();
      await row.waitFor();
      await page.route('**/api/ledger/v1/effects?**', (route) =>
        route.fulfill({ status: 503, json: { code: 'READS_BUSY', detail: '' } }),
      );
      await desk.system.refund();
      await page.getByRole('alert').getByText('may be old').waitFor({ timeout: 30_000 });
      await page.getByText('READS_BUSY').waitFor();
      expect(await row.count()).toBe(1);
    },
    TAKES_AT_MOST_MS,
  );
});

describe('bad input', () => {
  it(
    'in an address is answered with a sentence, and the screen with the next good one',
    async () => {
      const { page } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira');
      for (const path of [
        '/?kind=%3Cscript%3E',
        '/?sort=weight',
        `/?find=${'x'.repeat(300)}`,
        '/contracts/a?against=many',
      ]) {
        await page.goto(`${desk.system.console}${path}`);
        await page.getByText('The address of this page holds something that the console does not know.').waitFor();
      }
      await page.goto(`${desk.system.console}/runs/${encodeURIComponent('no such run \u202e')}`);
      await page.getByText('Nothing of this run is on record.').first().waitFor();
      await page.goto(`${desk.system.console}/nowhere/at/all`);
      await page.getByText('There is no such screen.').waitFor();
    },
    TAKES_AT_MOST_MS,
  );

  it(
    'in a form keeps what was typed, through a refusal, a reload and a lost session',
    async () => {
      const step = await desk.system.waiting();
      const { page, context } = await takeSeat(desk.browser);
      await signInAs(page, desk.system.console, 'mira', `/reviews/${step.stepId}`);
      await page.getByRole('button', { name: 'Deny' }).click();
      await page.getByLabel('Why, in your words').fill('a long thought');
      await context.clearCookies();
      await page.getByRole('alertdialog').getByRole('button', { name: 'Deny' }).click();
      await page.getByText('You are not signed in any more.').first().waitFor();
      await signInAs(page, desk.system.console, 'mira', `/reviews/${step.stepId}`);
      await page.getByRole('button', { name: 'Deny' }).click();
      expect(await page.getByLabel('Why, in your words').inputValue()).toBe('a long thought');
    },
    TAKES_AT_MOST_MS,
  );
});

interface Told {
  readonly id: string;
  readonly moved: readonly string[];
}

/** The first event of a stream that tells what moved. */
async function nextEvent(cookie: string, lastId: string | null): Promise<Told> {
  const leave = new AbortController();
  const answer = await fetch(`${desk.system.console}/events`, {
    headers: { cookie, ...(lastId === null ? {} : { 'last-event-id': lastId }) },
    signal: leave.signal,
  });
  let text = '';
  try {
    for await (const part of answer.body ?? []) {
      text += Buffer.from(part).toString('utf8');
      const found = /id: (\S+)\nevent: moved\ndata: (.*)\n\n/.exec(text);
      if (found !== null) return { id: found[1] ?? '', moved: (JSON.parse(found[2] ?? '{}') as Told).moved };
    }
  } finally {
    leave.abort();
  }
  throw new Error('the stream ended before it told anything');
}
