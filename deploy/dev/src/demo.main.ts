// npm start: the stack, the services, an example, and its story.
import { kafkaAccessIn } from '@recourse/sdk';
import { createInterface } from 'node:readline/promises';
import { playCheckout } from '@recourse/example-checkout';
import { playStory } from '@recourse/example-drifted-refund';
import type { Interactive } from '@recourse/example-drifted-refund';
import { playTwelveCalls } from '@recourse/example-twelve-calls';
import { defaultDataDir } from '../../../scripts/lib/paths.mjs';
import type { StartOptions } from '../../../scripts/lib/start-options.mjs';
import { adaptersIn } from './adapters.js';
import { NO_STORY } from './command-line.js';
import { nameOf, recourse } from './command-line.js';
import { launch } from './launcher.js';
import type { Programme } from './launcher.js';
import { sayWhatIsSigned, verifying } from './signed-story.js';
import { planSystem } from './system.js';
import type { SystemPlan } from './system.plan.js';
import type { StackFacts } from './stack.js';
import { AGENT, userVariables } from './users.js';

/** Stories over the little services; every other is the drifted refund's. */
const LITTLE_STORIES = { 'twelve-calls': playTwelveCalls, checkout: playCheckout } as const;
type LittleStory = keyof typeof LITTLE_STORIES;

/** The stack alone, for tools of one's own. */

const isLittle = (scenario: string): scenario is LittleStory => Object.hasOwn(LITTLE_STORIES, scenario);
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

/** Errors: ConfigInvalid, before anything is started. */
function demo(): Programme {
  const adapters = adaptersIn(process.env);
  let plan: SystemPlan | null = null;
  let folder = defaultDataDir;
  return {
    processes: async (stack, { dataDir, scenario }) => {
      folder = dataDir;
      const withLittleServices = isLittle(scenario);
      plan = await planSystem(stack, {
        dataDir,
        adapters,
        withExample: !withLittleServices && scenario !== NO_STORY,
        withLittleServices,
        withNotifier: true,
        withConsole: true,
        withAuditor: true,
        subscribedAs: 'loyalty',
        onProgress: (line) => {
          say(`  ${line}`);
        },
      });
      return plan.processes;
    },
    story: async (stack, _processes, options) => {
      if (plan === null) return false;
      if (options.scenario === NO_STORY) return true;
      say(`The console is at ${plan.urls.console}: sign in as mira to see what follows, and to decide there.`);
      const held = isLittle(options.scenario)
        ? await playLittle(options.scenario, plan, stack, folder)
        : await playRefund(plan, options, folder);
      return (await sayWhatIsSigned(plan, folder, say)) && held;
    },
    whereabouts: () => (plan === null ? [] : whereabouts(plan, folder)),
  };
}

async function playRefund(
  plan: SystemPlan,
  { scenario, breakWhat, once }: StartOptions,
  dataDir: string,
): Promise<boolean> {
  const { ok, mutationId } = await playStory({
    urls: plan.urls,
    scenario: scenario === 'window-closed' ? 'window-closed' : 'refund',
    breakMode: breakWhat === 'phantom-undo' ? 'phantom-undo' : null,
    interactive: once || !process.stdin.isTTY ? null : askPerson,
    say,
  });
  await sayWhoWasNotified(plan);
  return sayWhatDepended(plan, dataDir, mutationId) && ok;
}

/** One line about the webhook that arrived; the receiver counts only those the notifier signed. */
async function sayWhoWasNotified({ urls }: SystemPlan): Promise<void> {
  // What the example's receiver answers.
  const { received } = (await (await fetch(`${urls.receiver}/received`)).json()) as {
    readonly received: readonly { readonly type: string; readonly item_kind: string; readonly reason: string }[];
  };
  const opened = received.findLast(
    ({ type, item_kind: kind }) => type === 'recourse.item.opened' && kind === 'approval',
  );
  say(
    opened === undefined
      ? '   approvers   have not been notified yet'
      : `   approvers   were notified by a signed webhook, without polling: ${opened.item_kind}, ${opened.reason}`,
  );
}

/** The lineage of the refund, drawn as `recourse lineage show` draws it. Says whether it could be. */
function sayWhatDepended({ urls }: SystemPlan, dataDir: string, mutationId: string | null): boolean {
  if (mutationId === null) return true;
  const drawn = recourse(['lineage', 'show', mutationId], {
    RECOURSE_LEDGER_URL: urls.ledger,
    RECOURSE_ISSUER_URL: urls.issuer,
    RECOURSE_TENANT: 'demo',
  });
  say(
    drawn.status === 0
      ? `   What depended on the refund (\`npx recourse ${nameOf(dataDir)}lineage show ${mutationId}\`):`
      : `   The lineage could not be drawn: ${drawn.stderr}`,
  );
  for (const line of drawn.stdout.trimEnd().split('\n')) say(`     ${line}`);
  return drawn.status === 0;
}

async function playLittle(
  story: LittleStory,
  { urls }: SystemPlan,
  stack: StackFacts,
  dataDir: string,
): Promise<boolean> {
  const { kafka, registryUrl } = stack;
  const access = kafkaAccessIn(userVariables(stack, dataDir, AGENT));
  const { ok } = await LITTLE_STORIES[story]({ urls, brokers: kafka.brokers, registryUrl, access, say });
  return ok;
}

const askPerson: Interactive = async (question, elsewhere) => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (;;) {
      const asked = `${question} Here, or in the console: [approve/deny] `;
      const answer = (await terminal.question(asked, { signal: elsewhere })).trim().toLowerCase();
      if (answer === 'approve' || answer === 'a' || answer === 'y') return 'approve';
      if (answer === 'deny' || answer === 'd' || answer === 'n') return 'deny';
    }
  } catch (cause) {
    // Decided elsewhere: what is typed here counts no more.
    if (elsewhere.aborted) return await new Promise<never>(() => undefined);
    throw cause;
  } finally {
    terminal.close();
  }
};

/** A part that does not run has no port. */
const isHere = (url: string): boolean => !url.endsWith(':0');

function whereabouts({ urls, logId, audited }: SystemPlan, dataDir: string): readonly string[] {
  const named = nameOf(dataDir);
  const service = (name: string, url: string): string => `  ${name.padEnd(12)}${url}   OpenAPI ${url}/docs`;
  return [
    `  console     ${urls.console}   (look, decide and follow: sign in as mira)`,
    service('registry', urls.registry),
    service('ledger', urls.ledger),
    service('recoveries', urls.orchestrator),
    service('budgets', urls.budget),
    service('notifier', urls.notifier),
    `  tokens      ${urls.issuer}   (development only: issues any token to anyone)`,
    ...(isHere(urls.services) ? [`  services    ${urls.services}/state`] : []),
    ...(isHere(urls.provider)
      ? [
          `  provider    ${urls.provider}/effects     warehouse ${urls.warehouse}     loyalty ${urls.loyalty}/notifications`,
        ]
      : []),
    `  log id      ${logId}`,
    ...(audited === null ? [] : [`  heads       ${audited.headsFile}   (signed by an auditor and a witness)`]),
    '',
    'Try, in another terminal in this folder:',
    ...['contracts list', 'mutations list', 'recoveries list', verifying(audited)].map(
      (what) => `  npx recourse ${named}${what}`,
    ),
  ];
}

process.exitCode = await Promise.resolve()
  .then(() => launch(process.argv.slice(2), demo()))
  .catch((cause: unknown) => {
    process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
    return 1;
  });
// Whatever still holds the loop open, its work is done.
process.exit();
