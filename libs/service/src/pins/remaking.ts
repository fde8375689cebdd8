// What a service lends to whoever makes its decisions again: its core under given settings, and how things would have been otherwise.
import { readConfig } from '@recourse/config';
import type { ConfigOf, ConfigSpec, Environment } from '@recourse/config';
import type { ServiceCore, WhatIf } from '@recourse/event-log';
import { Failure } from '@recourse/kernel';
import { z } from 'zod';

const NAME_MAX = 512;
const BODY_MAX = 200_000;
const OTHERS_MAX = 100;

/** The same run under another policy bundle, or under other ceilings. */
export const otherShape = z.strictObject({
  policy: z.strictObject({ name: z.string().max(NAME_MAX), body: z.string().max(BODY_MAX) }).nullable(),
  ceilings: z
    .array(z.strictObject({ scope: z.string().max(NAME_MAX), unit: z.string().max(NAME_MAX), minor: z.int().min(0) }))
    .max(OTHERS_MAX),
});
export type Other = z.infer<typeof otherShape>;

export interface Remaking {
  /** Variables that the core uses, with the values in an environment; those that are not set as they are then. Errors: Failure(CONFIG_INVALID). */
  readonly settingsIn: (environment: Environment) => Readonly<Record<string, string>>;
  readonly coreUnder: (settings: Environment) => ServiceCore;
  /** Fields of records that hold what a key of the process made. */
  readonly keyed: ReadonlySet<string>;
  readonly whatIf: (other: Other) => WhatIf;
}

/** A service as what its core uses of the environment, none of which is a secret. */
export function remaking<const S extends ConfigSpec>(
  spec: S,
  service: Omit<Remaking, 'settingsIn' | 'coreUnder'> & { readonly coreOf: (config: ConfigOf<S>) => ServiceCore },
): Remaking {
  const { coreOf, keyed, whatIf } = service;
  return {
    settingsIn: (environment) => {
      configIn(spec, environment);
      return Object.fromEntries(
        Object.values(spec).flatMap(({ name, fallback }) => {
          const value = environment[name] ?? fallback;
          return value === null ? [] : [[name, value]];
        }),
      );
    },
    coreUnder: (settings) => coreOf(configIn(spec, settings)),
    keyed,
    whatIf,
  };
}

function configIn<const S extends ConfigSpec>(spec: S, environment: Environment): ConfigOf<S> {
  const read = readConfig(spec, environment);
  if (read.ok) return read.config;
  throw new Failure('CONFIG_INVALID', read.problems.map(({ message }) => message).join('; '));
}

/** A bundle of this name as it would have been, in the place of each version that stood. */
export function bundleInstead({ policy }: Other): WhatIf['record'] {
  return (record) => {
    const { type, body } = record;
    const isIt = type === 'EntryRegistered' && body.kind === 'policy_bundle' && body.name === policy?.name;
    return isIt && policy !== null ? { ...record, body: { ...body, body: policy.body } } : null;
  };
}
