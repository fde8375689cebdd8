// recourse budgets top | forecast: where most debt stands, and what soon can no longer be taken back.
import type { Doc } from '@recourse/sdk';
import { Option } from 'commander';
import type { Command } from 'commander';
import { describeForecast, describeHarm } from '../reports/harm.js';
import type { Act } from './options.js';
import { addReportAction } from './shapes.js';

interface Narrowed {
  readonly by: string;
  readonly agent?: string;
  readonly capability?: string;
}

export function addHarm(budgets: Command, act: Act): void {
  const add = (name: string, description: string, path: string, text: (told: Doc) => string): void => {
    addReportAction<Narrowed>(
      budgets
        .command(name)
        .description(description)
        .addOption(
          new Option('--by <group>', 'what is summed by').choices(['tenant', 'agent', 'capability']).default('agent'),
        )
        .option('--agent <id>', 'of one agent')
        .option('--capability <name>', 'of one capability'),
      act,
      {
        service: 'budgets',
        path,
        query: ({ by, agent, capability }) => ({ by, agent_id: agent, capability }),
        text,
      },
    );
  };
  add(
    'top',
    'shows where most debt stands: reserved, open or beyond taking back, with what recovery cost and is expected to',
    '/v1/reports/harm',
    describeHarm,
  );
  add(
    'forecast',
    'shows what nothing takes back any more after the next hour, and after the next day',
    '/v1/reports/forecast',
    describeForecast,
  );
}
