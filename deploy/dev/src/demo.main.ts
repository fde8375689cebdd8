// npm start: the stack, the services, the example, and its story.
import { createInterface } from 'node:readline/promises';
import { playStory } from '@recourse/example-drifted-refund';
import type { Interactive } from '@recourse/example-drifted-refund';
import { launch } from './launcher.js';
import type { Programme } from './launcher.js';
import { planSystem } from './system.js';
import type { SystemPlan } from './system.js';

function demo(): Programme {
  let plan: SystemPlan | null = null;
  return {
    processes: async (stack, { dataDir }) => {
      plan = await planSystem(stack, { dataDir, onProgress: (line) => { process.stdout.write(`  ${line}\n`); } });
      return plan.processes;
    },
    story: async (_stack, _processes, options) => {
      if (plan === null) return false;
      const { ok } = await playStory({
        urls: plan.urls, scenario: options.scenario === 'window-closed' ? 'window-closed' : 'refund', breakMode: options.breakWhat === 'phantom-undo' ? 'phantom-undo' : null,
        interactive: options.once || !process.stdin.isTTY ? null : askPerson, say: (line) => { process.stdout.write(`${line}\n`); },
      });
      return ok;
    },
    whereabouts: () => (plan === null ? [] : whereabouts(plan)),
  };
}

const askPerson: Interactive = async (question) => {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (;;) {
      const answer = (await terminal.question(`${question} [approve/deny] `)).trim().toLowerCase();
      if (answer === 'approve' || answer === 'a' || answer === 'y') return 'approve';
      if (answer === 'deny' || answer === 'd' || answer === 'n') return 'deny';
    }
  } finally {
    terminal.close();
  }
};

function whereabouts({ urls, logId }: SystemPlan): readonly string[] {
  const service = (name: string, url: string): string => `  ${name.padEnd(12)}${url}   OpenAPI ${url}/docs`;
  return [
    service('registry', urls.registry), service('ledger', urls.ledger), service('recoveries', urls.orchestrator), service('budgets', urls.budget),
    `  tokens      ${urls.issuer}   (development only: hands a token for anybody to anybody)`,
    `  provider    ${urls.provider}/effects     warehouse ${urls.warehouse}     loyalty ${urls.loyalty}/notifications`,
    `  log id      ${logId}`,
    '',
    'Try:',
    '  npx recourse contracts list          npx recourse mutations list',
    '  npx recourse recoveries list         npx recourse audit verify',
  ];
}

process.exitCode = await launch(process.argv.slice(2), demo()).catch((cause: unknown) => {
  process.stderr.write(`${cause instanceof Error ? cause.message : String(cause)}\n`);
  return 1;
});
// Whatever still holds the loop open, its work is done.
process.exit();
