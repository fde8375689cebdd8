// What every adapter of the schema registry port does alike.
import { describe, expect } from '@jest/globals';
import { Failure } from '@recourse/kernel';
import { runCases, type Cases } from '@recourse/testing';
import type { SchemaRegistry } from '../kafka.port.js';

export interface RegistryHarness {
  /** A registry with an empty cache. */
  fresh(): SchemaRegistry;
  /** A registry that does not answer. */
  unreachable(): SchemaRegistry;
}

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'no failure',
    (error: unknown) => (error instanceof Failure ? error.code : error),
  );
const PATIENCE_MS = 20_000;

const marker = `r${String(Date.now())}p${String(process.pid)}`;
let subjectCount = 0;
const subject = (): string => `${marker}-recourse.Subject${String((subjectCount += 1))}`;
const schema = (record: string, ...optional: string[]): string =>
  JSON.stringify({
    type: 'record',
    name: record,
    namespace: `test.${marker}`,
    doc: 'A record of a spec.',
    fields: [
      { name: 'id', type: 'string' },
      ...optional.map((field) => ({ name: field, type: ['null', 'string'], default: null })),
    ],
  });

/** Runs the contract against one adapter. */
export function registryContract(name: string, open: () => RegistryHarness): void {
  describe(`the schema registry port on ${name}`, () => runCases(CASES, open, PATIENCE_MS));
}

const CASES: Cases<RegistryHarness> = {
  'finds what was registered, by id and by text': async ({ fresh }) => {
    const text = schema('Found');
    const named = subject();
    const id = await fresh().idOf(named, text, { register: true });
    expect(JSON.parse(await fresh().schemaById(id))).toEqual(JSON.parse(text));
    expect(await fresh().idOf(named, text)).toBe(id);
  },

  'gives the same schema the same id again, also from another process': async ({ fresh }) => {
    const text = schema('Same');
    const named = subject();
    const ids = await Promise.all([fresh(), fresh()].map((registry) => registry.idOf(named, text, { register: true })));
    ids.push(await fresh().idOf(named, text, { register: true }));
    expect(new Set(ids).size).toBe(1);
  },

  'takes a version with one more optional field, under another id': async ({ fresh }) => {
    const named = subject();
    const first = await fresh().idOf(named, schema('Grown'), { register: true });
    const second = await fresh().idOf(named, schema('Grown', 'note'), { register: true });
    expect(second).not.toBe(first);
    expect(JSON.parse(await fresh().schemaById(first))).toEqual(JSON.parse(schema('Grown')));
  },

  'fails with UNKNOWN_SCHEMA for an id, a subject or a text it does not know': async ({ fresh }) => {
    const named = subject();
    await fresh().idOf(named, schema('Known'), { register: true });
    expect(await codeOf(fresh().schemaById(99_999_999))).toBe('UNKNOWN_SCHEMA');
    expect(await codeOf(fresh().idOf(subject(), schema('Known')))).toBe('UNKNOWN_SCHEMA');
    expect(await codeOf(fresh().idOf(named, schema('Unknown')))).toBe('UNKNOWN_SCHEMA');
  },

  'knows a schema that it did not know a moment ago': async ({ fresh }) => {
    const registry = fresh();
    const named = subject();
    expect(await codeOf(registry.idOf(named, schema('Later')))).toBe('UNKNOWN_SCHEMA');
    const id = await fresh().idOf(named, schema('Later'), { register: true });
    expect(await registry.idOf(named, schema('Later'))).toBe(id);
  },

  'answers a burst of cold look-ups with one promise': async ({ fresh }) => {
    const id = await fresh().idOf(subject(), schema('Burst'), { register: true });
    const registry = fresh();
    const first = registry.schemaById(id);
    expect(registry.schemaById(id)).toBe(first);
    expect(JSON.parse(await first)).toEqual(JSON.parse(schema('Burst')));
  },

  'fails with REGISTRY_UNAVAILABLE when nobody answers': async ({ unreachable }) => {
    const registry = unreachable();
    expect(await codeOf(registry.schemaById(1))).toBe('REGISTRY_UNAVAILABLE');
    expect(await codeOf(registry.idOf('any', schema('Any')))).toBe('REGISTRY_UNAVAILABLE');
    expect(await codeOf(registry.idOf('any', schema('Any'), { register: true }))).toBe('REGISTRY_UNAVAILABLE');
  },
};
