// The shell blocks of a guide, run as they stand: `npx recourse …` is the command line itself, in this process.
import { run } from '@recourse/cli';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Person, System } from './system.testing.js';

export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly note: string;
}

/** Every command of the shell blocks, in order. */
export function commandsIn(guide: string): readonly string[] {
  const text = readFileSync(`docs/guides/${guide}.md`, 'utf8');
  return [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)]
    .flatMap((block) => (block[1] ?? '').split('\n'))
    .filter((line) => line.trim() !== '');
}

/** The first YAML block of a guide. */
export function yamlIn(guide: string): string {
  return /^```yaml\n([\s\S]*?)^```/m.exec(readFileSync(`docs/guides/${guide}.md`, 'utf8'))?.[1] ?? '';
}

/** Writes a file below a folder. */
export function put(folder: string, file: string, content: unknown): void {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  // Files with secrets are refused when others may open them.
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  writeFileSync(join(folder, file), text, { mode: 0o600 });
}

/** Runs a command of a guide as a person would. Knows quotes, `$NAME` in quotes, and `> file`; nothing else of a shell. */
export async function runCommand(
  command: string,
  {
    system,
    person,
    folder,
    variables,
  }: {
    readonly system: System;
    readonly person: Person;
    readonly folder: string;
    readonly variables: Readonly<Record<string, string>>;
  },
): Promise<Ran> {
  const environment = { RECOURSE_KEY_STORE_URL: system.plan.keyStoreUrl };
  const seat = { system, person, folder, saidTo: null, environment };
  return runWords(command, { folder, variables, recourse: (...words) => cliAt(seat, words) });
}

/** The same with a command line of the caller's. */
export async function runWords(
  command: string,
  {
    folder,
    variables = {},
    recourse,
  }: {
    readonly folder: string;
    readonly variables?: Readonly<Record<string, string>>;
    readonly recourse: (...words: readonly string[]) => Promise<Ran>;
  },
): Promise<Ran> {
  const [, rest = ''] = /^npx recourse (.*)$/.exec(command) ?? [];
  const words = [...rest.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) =>
    (quoted ?? bare ?? '').replace(/\$(\w+)$/, (_, name: string) => variables[name] ?? ''),
  );
  const at = words.indexOf('>');
  const ran = await recourse(...(at < 0 ? words : words.slice(0, at)));
  if (at >= 0) put(folder, words[at + 1] ?? '', ran.out);
  return ran;
}

/** The command line with the addresses of a system and the token of a person. */
export function cli(system: System, person: Person, folder: string, ...args: readonly string[]): Promise<Ran> {
  return cliAt({ system, person, folder, saidTo: null }, args);
}

/** A terminal, and who answers there what they are asked; null: nobody sits there. */
interface Seat {
  readonly system: System;
  readonly person: Person;
  readonly folder: string;
  readonly saidTo: ((question: string) => string) | null;
  /** Nothing unless told. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** Flags that say where everything is, and who asks. */
async function placesOf(system: System, person: Person): Promise<readonly string[]> {
  const { urls } = system.plan;
  return [
    '--contracts-url',
    urls.registry,
    '--ledger-url',
    urls.ledger,
    '--recoveries-url',
    urls.orchestrator,
    '--budget-url',
    urls.budget,
    '--notifier-url',
    urls.notifier,
    '--brokers',
    system.stack.kafka.brokers.join(','),
    '--registry',
    system.stack.registryUrl,
    '--log-id',
    system.plan.logId,
    '--token',
    await system.token(person),
  ];
}

/** The same with somebody at the terminal. */
export async function cliAt(
  { system, person, folder, saidTo, environment = {} }: Seat,
  args: readonly string[],
): Promise<Ran> {
  const [out, note]: [string[], string[]] = [[], []];
  const terminal = {
    out: (text: string) => {
      out.push(text);
    },
    note: (text: string) => {
      note.push(text);
    },
    isInteractive: saidTo !== null,
    ask: (question: string) => Promise.resolve(saidTo?.(question) ?? ''),
  };
  return {
    code: await run([...(await placesOf(system, person)), ...args], { terminal, environment, folder, fetch }),
    out: out.join('\n'),
    note: note.join('\n'),
  };
}
