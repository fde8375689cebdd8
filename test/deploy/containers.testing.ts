// The container file as data: what each program is started with, and as whom.
//
// Boundary: reads what our own file uses (FROM, ENV, USER, CMD, ENTRYPOINT in their exec form); it is no parser of Dockerfiles.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../scripts/lib/paths.mjs';

export const CONTAINER_FILE = 'deploy/containers/Dockerfile';
/** Programs that have an HTTP edge. */
export const PROGRAMS = [
  'contract-registry',
  'mutation-ledger',
  'recovery-orchestrator',
  'budget-accountant',
  'notifier',
] as const;
export type ProgramName = (typeof PROGRAMS)[number];
/** Programs that verify what the others write: no rows, no tokens, a volume for what they signed. */
export const AUDITING = ['auditor', 'witness'] as const;
export type AuditingName = (typeof AUDITING)[number];

/** One stage, with what it has from those it stands on. */
export interface Stage {
  readonly name: string;
  /** The image it begins with, arguments filled in. */
  readonly base: string;
  readonly user: string | null;
  readonly env: Readonly<Record<string, string>>;
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly stopSignal: string | null;
  readonly healthcheck: string | null;
  /** What is run to make it, as a shell reads it; what it stands on has run before. */
  readonly run: readonly string[];
}

/** Reads the file of the tree. */
export function containerStages(): ReadonlyMap<string, Stage> {
  return stagesOf(readFileSync(join(root, CONTAINER_FILE), 'utf8'));
}

/** Stages by name, in order. Pure. Errors: an instruction that it does not know. */
export function stagesOf(text: string): ReadonlyMap<string, Stage> {
  const stages = new Map<string, Stage>();
  const args = new Map<string, string>();
  let at: Stage | null = null;
  for (const line of instructionsOf(text)) {
    const [, word = '', rest = ''] = /^([A-Z]+)\s+([\s\S]*)$/.exec(line) ?? [];
    if (word === 'ARG') args.set(...pairOf(rest));
    else if (word === 'FROM') at = begun(rest, stages, args);
    else if (at !== null) at = changed(at, word, rest);
    if (at !== null) stages.set(at.name, at);
  }
  return stages;
}

/** The command line and environment of a program. Errors: no such stage. */
export function stageOf(stages: ReadonlyMap<string, Stage>, name: string): Stage {
  const stage = stages.get(name);
  if (stage === undefined) throw new Error(`${CONTAINER_FILE} has no target ${name}`);
  return stage;
}

function instructionsOf(text: string): readonly string[] {
  const kept = text.split('\n').filter((line) => !line.startsWith('#'));
  const joined = kept.join('\n').replace(/\\\n\s*/g, ' ');
  return joined.split('\n').filter((line) => line.trim() !== '');
}

function begun(rest: string, stages: ReadonlyMap<string, Stage>, args: ReadonlyMap<string, string>): Stage {
  const [, from = '', name = ''] = /^(\S+) AS (\S+)$/.exec(rest) ?? [];
  const below = stages.get(from);
  const base = from.replace(/\$\{(\w+)\}/g, (_, arg: string) => args.get(arg) ?? '');
  const bare = { user: null, env: {}, entrypoint: [], cmd: [], stopSignal: null, healthcheck: null, run: [] };
  return { ...(below ?? { ...bare, base }), name, run: [] };
}

function changed(stage: Stage, word: string, rest: string): Stage {
  switch (word) {
    case 'ENV': {
      const [name, value] = pairOf(rest);
      return { ...stage, env: { ...stage.env, [name]: value } };
    }
    case 'USER':
      return { ...stage, user: rest };
    case 'CMD':
      return { ...stage, cmd: wordsOf(rest) };
    case 'ENTRYPOINT':
      return { ...stage, entrypoint: wordsOf(rest) };
    case 'STOPSIGNAL':
      return { ...stage, stopSignal: rest };
    case 'HEALTHCHECK':
      return { ...stage, healthcheck: rest };
    case 'RUN':
      return { ...stage, run: [...stage.run, rest] };
    case 'WORKDIR':
    case 'COPY':
    case 'EXPOSE':
      return stage;
    default:
      throw new Error(`${CONTAINER_FILE}: ${word} is not read here`);
  }
}

function pairOf(text: string): [string, string] {
  const at = text.indexOf('=');
  return [text.slice(0, at), text.slice(at + 1)];
}

/** The exec form alone: a shell between would take the signal. */
function wordsOf(text: string): readonly string[] {
  return JSON.parse(text) as readonly string[];
}
