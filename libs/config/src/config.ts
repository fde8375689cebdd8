// Configuration is resolved once, at start: every problem at once, or plain readonly data.
import { Failure } from '@recourse/kernel';
import type { z } from 'zod';
import type { FileProblem, Variable } from './variable.js';

export type ConfigSpec = Readonly<Record<string, Variable<unknown>>>;
export type ConfigOf<S extends ConfigSpec> = { readonly [K in keyof S]: S[K] extends Variable<infer T> ? T : never };

/** One thing that is wrong with the environment. */
export interface ConfigProblem {
  /**
   * CONFLICT: each value is good, together they are not. UNREADABLE: the file that is named cannot be read. EXPOSED: everybody on
   * the machine may read or write the file of a secret.
   */
  readonly code: 'MISSING' | 'INVALID' | 'UNKNOWN' | 'CONFLICT' | FileProblem;
  readonly variable: string;
  /** As it stands in the environment, without user and password; null where it is missing, or secret. */
  readonly value: string | null;
  /** What it must be. */
  readonly range: string | null;
  readonly unit: string | null;
  /** One line for people. */
  readonly message: string;
}

/** What must hold between several variables. */
export interface ConfigRule<S extends ConfigSpec> {
  /** The fields it is about, the one to change first; judged only when each of them is good by itself. */
  readonly fields: readonly [keyof S & string, ...(keyof S & string)[]];
  /** What must hold, as one sentence. */
  readonly doc: string;
  readonly holds: (config: ConfigOf<S>) => boolean;
}

export type ConfigRead<S extends ConfigSpec> =
  /** `warnings`: variables under our prefix that no program of this kind reads. */
  | { readonly ok: true; readonly config: ConfigOf<S>; readonly warnings: readonly ConfigProblem[] }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'RECOURSE_';
/** What test suites tell each other through the environment; programs inherit it and do not read it. */
const NOT_OURS = 'RECOURSE_TEST_';
/** User and password of an address, which may hold any character where it is mistyped; problems are printed and logged. */
const CREDENTIALS = /^([a-z][a-z0-9+.-]*:\/\/)?.*@/is;

/** The environment does not fit; `problems` has all that is wrong with it. */
export class ConfigInvalid extends Failure {
  constructor(readonly problems: readonly ConfigProblem[]) {
    super(
      'CONFIG_INVALID',
      `${String(problems.length)} problem(s) in the environment\n${problems.map(({ message }) => `  - ${message}`).join('\n')}`,
    );
  }
}

/**
 * Reads an environment.
 *
 * Shape:  an empty value counts as not set. Unknown variables under our prefix are warnings: they may be misspelt, or another program's.
 * Errors: none; problems are values.
 */
export function readConfig<const S extends ConfigSpec>(
  spec: S,
  environment: Environment,
  rules: readonly ConfigRule<S>[] = [],
): ConfigRead<S> {
  const problems: ConfigProblem[] = [];
  const entries = Object.entries(spec).map(([field, variable]) => [
    field,
    valueOf(variable, given(variable, environment), problems),
  ]);
  // One entry per field of the spec, each parsed by that field's schema; of one with a problem nothing is read.
  const config = Object.fromEntries(entries) as ConfigOf<S>;
  const bad = new Set(problems.map(({ variable }) => variable));
  const judged = rules.filter(({ fields }) => fields.every((field) => !bad.has(variableOf(spec, field).name)));
  problems.push(...judged.filter(({ holds }) => !holds(config)).map((rule) => conflictOf(spec, rule, environment)));
  const warnings = unknownVariables(spec, environment);
  // Where something is wrong anyhow, a misspelt name is likely the reason.
  return problems.length > 0 ? { ok: false, problems: [...problems, ...warnings] } : { ok: true, config, warnings };
}

/** Reads an environment at start, and warns of variables it does not know: on stderr, unless the program logs. Errors: ConfigInvalid. */
export function loadConfig<const S extends ConfigSpec>(
  spec: S,
  environment: Environment,
  rules: readonly ConfigRule<S>[] = [],
  warn: (problem: ConfigProblem, config: ConfigOf<S>) => void = warnProcess,
): ConfigOf<S> {
  const read = readConfig(spec, environment, rules);
  if (!read.ok) throw new ConfigInvalid(read.problems);
  const { config, warnings } = read;
  for (const warning of warnings) warn(warning, config);
  return config;
}

function warnProcess({ message }: ConfigProblem): void {
  process.emitWarning(message, { type: 'ConfigWarning', code: 'CONFIG_UNKNOWN' });
}

/** The table of a spec for docs/reference/config.md, in Markdown, and what must hold between its variables. */
export function describeConfig<const S extends ConfigSpec>(spec: S, rules: readonly ConfigRule<S>[] = []): string {
  const rows = Object.values(spec).map(({ name, doc, range, unit, fallback, isOptional, isSecretFile, isSecret }) => {
    const standing = fallback === null ? (isOptional ? 'not set' : '**required**') : `\`${fallback}\``;
    return `| \`${name}\` | ${cell(doc)} | ${cell(range)} | ${cell(unit ?? '')} | ${standing}${isSecretFile || isSecret ? ' (secret)' : ''} |`;
  });
  return [
    '| Variable | Decides | Must be | Unit | Default |',
    '|---|---|---|---|---|',
    ...rows,
    '',
    ...described(spec, rules),
  ].join('\n');
}

function described<S extends ConfigSpec>(spec: S, rules: readonly ConfigRule<S>[]): readonly string[] {
  return rules.length === 0
    ? []
    : [
        'Together:',
        '',
        ...rules.map(
          ({ fields, doc }) => `- ${fields.map((field) => `\`${variableOf(spec, field).name}\``).join(', ')}: ${doc}`,
        ),
        '',
      ];
}

function variableOf<S extends ConfigSpec>(spec: S, field: keyof S & string): Variable<unknown> {
  const variable = spec[field];
  if (variable === undefined) throw new TypeError(`a rule names the field ${field}, which the spec lacks`);
  return variable;
}

function conflictOf<S extends ConfigSpec>(
  spec: S,
  { fields, doc }: ConfigRule<S>,
  environment: Environment,
): ConfigProblem {
  const variables = fields.map((field) => variableOf(spec, field));
  const values = variables.map((variable) => `${variable.name} is ${inQuotes(variable, given(variable, environment))}`);
  const first = variableOf(spec, fields[0]);
  return {
    code: 'CONFLICT',
    variable: first.name,
    value: shownOf(first, given(first, environment)),
    range: first.range,
    unit: first.unit,
    message: `${values.join(', ')}: ${doc}`,
  };
}

/** What stands for a variable; an empty text counts as not set. */
function given({ name, fallback }: Variable<unknown>, environment: Environment): string | null {
  const value = environment[name];
  return value === undefined || value === '' ? fallback : value;
}

/** What a problem may show of it. */
function shownOf({ isSecret }: Variable<unknown>, value: string | null): string | null {
  return isSecret || value === null ? null : value.replace(CREDENTIALS, '$1…@');
}

function inQuotes(variable: Variable<unknown>, value: string | null): string {
  return variable.isSecret ? 'not shown' : JSON.stringify(shownOf(variable, value));
}

function valueOf(variable: Variable<unknown>, value: string | null, problems: ConfigProblem[]): unknown {
  const { name, range, unit, isOptional } = variable;
  if (value === null) {
    if (!isOptional)
      problems.push({
        code: 'MISSING',
        variable: name,
        value: null,
        range,
        unit,
        message: `${name} is not set; it must be ${inWords(variable)}`,
      });
    return undefined;
  }
  const parsed = variable.schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const own = parsed.error.issues
    .filter(({ code }) => code === 'custom')
    .map(({ message }) => message)
    .filter((message) => message !== 'Invalid input');
  problems.push({
    code: fileProblemOf(parsed.error.issues) ?? 'INVALID',
    variable: name,
    value: shownOf(variable, value),
    range,
    unit,
    message: `${name} is ${inQuotes(variable, value)}; it must be ${inWords(variable)}${own.length > 0 ? ` (${own.join('; ')})` : ''}`,
  });
  return undefined;
}

function fileProblemOf(issues: readonly z.core.$ZodIssue[]): FileProblem | undefined {
  const [first] = issues;
  // Set by variable.ts alone.
  return first?.code === 'custom' ? (first.params?.['problem'] as FileProblem | undefined) : undefined;
}

function unknownVariables(spec: ConfigSpec, environment: Environment): readonly ConfigProblem[] {
  const known = new Set(Object.values(spec).map(({ name }) => name));
  return Object.entries(environment)
    .filter(
      ([name, value]) =>
        value !== undefined && name.startsWith(PREFIX) && !name.startsWith(NOT_OURS) && !known.has(name),
    )
    .map(([name]) => ({
      code: 'UNKNOWN' as const,
      variable: name,
      value: null,
      range: null,
      unit: null,
      message: `${name} is no variable of this program and changes nothing; known are ${[...known].join(', ')}`,
    }));
}

function inWords({ range, unit }: Variable<unknown>): string {
  return unit === null ? range : `${range} (${unit})`;
}

function cell(words: string): string {
  return words.replaceAll('|', '\\|');
}
