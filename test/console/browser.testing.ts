// A browser and the people in front of it: each signs in at the development issuer as anybody would.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium } from '../../scripts/lib/chromium.mjs';
import { root } from '../../scripts/lib/paths.mjs';

export const WIDE = { width: 1_280, height: 800 } as const;
export const NARROW = { width: 390, height: 844 } as const;

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Errors: when there is none, with how to get it. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === null)
    throw new Error('no Chromium here: `apt-get install -y chromium`, or name one in CHROMIUM_PATH');
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] });
}

export interface Seat {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Violations of the page's policy, and errors that nobody caught. */
  readonly faults: readonly string[];
}

/** A browser profile of its own, with nobody signed in. */
export async function takeSeat(browser: Browser, options: Parameters<Browser['newContext']>[0] = {}): Promise<Seat> {
  const context = await browser.newContext({ viewport: WIDE, ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(error.message));
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) faults.push(message.text());
  });
  return { context, page, faults };
}

/** Everybody leaves: a page that nobody looks at any more still follows the stream, and takes from the next spec. */
export async function leaveSeats(browser: Browser): Promise<void> {
  await Promise.all(
    browser.contexts().map(async (context) => {
      // What a spec answers in place of a service may be under way: it would fail once nobody waits for it.
      await Promise.all(context.pages().map((page) => page.unrouteAll({ behavior: 'ignoreErrors' })));
      await context.close();
    }),
  );
}

/** Opens the console, and signs in as one of those the issuer suggests. */
export async function signInAs(page: Page, console: string, subject: string, path = '/'): Promise<void> {
  await page.goto(`${console}${path}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: new RegExp(`^${subject}\\b`) }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

/** Signs in with whatever one likes to be. */
export async function signInWith(
  page: Page,
  console: string,
  who: { readonly subject: string; readonly tenant: string; readonly roles: string },
): Promise<void> {
  await page.goto(console);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Somebody else').click();
  await page.getByLabel('Subject').fill(who.subject);
  await page.getByLabel('Tenant').fill(who.tenant);
  await page.getByLabel('Roles').fill(who.roles);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

interface AxeResult {
  readonly violations: readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[];
}

/** What is wrong for people who do not see, point or hear; each with where. */
export async function violationsOn(page: Page): Promise<readonly string[]> {
  // The page's policy lets no script in but its own: the debugger's world is not the page's.
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send('Page.getFrameTree');
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'axe',
  });
  await session.send('Runtime.evaluate', { expression: AXE, contextId });
  const { result } = await session.send('Runtime.evaluate', {
    expression: 'axe.run().then((found) => JSON.stringify(found))',
    contextId,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  const { violations } = JSON.parse(String(result.value)) as AxeResult; // what axe answers
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' | ')}`);
}

const SHOTS = join(root, 'docs', 'images', 'console');

/** What is kept of a picture, of a hundred: words stay sharp, and all of them together are some 2 MB. */
const QUALITY = 70;

/** Keeps a picture for docs/console.md, where the lane was told to. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env['RECOURSE_CONSOLE_PICTURES'] === undefined) return;
  mkdirSync(SHOTS, { recursive: true });
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  await session.detach();
  writeFileSync(join(SHOTS, `${name}.webp`), Buffer.from(data, 'base64'));
}
