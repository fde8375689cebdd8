// The catalogue of topics names who reads each: what the cores of the services hear and view, and what the notifier follows.
import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { FOLLOWED_LOGS } from '@recourse/notifier';
import { ORDINARY } from './profile.js';
import { Random } from './random.js';
import { SERVICES, sharedRegistry, World } from './world.js';

interface TopicRow {
  readonly name: string;
  readonly read_by: string;
}
/** Readers that are no service of ours. */
const OUTSIDE = ['workers', 'consumers'];
/** Topics of one adapter each; the simulation has its own. */
const REQUESTS = 'recourse.tool-requests.';

const { topics } = JSON.parse(readFileSync('schemas/topics.json', 'utf8')) as { readonly topics: readonly TopicRow[] };
const { registry, codecs } = await sharedRegistry();
const { cores } = new World({ seed: 1, profile: ORDINARY, random: new Random(1) }, registry, codecs);

/** Topic and mode of everything a service reads beside its own log. */
const heard = SERVICES.flatMap((service) =>
  cores[service].flatMap(({ inputs, views }) => [
    ...inputs.map(({ topic, source, mode }) => ({ topic, reader: service, mode: source === 'wire' ? null : mode })),
    ...views.map(({ topic }) => ({ topic, reader: service, mode: 'broadcast' as const })),
  ]),
);

describe('the catalogue of topics', () => {
  it.each(topics.filter(({ name }) => !name.startsWith(REQUESTS)).map(({ name, read_by }) => [name, read_by]))(
    'names who reads %s: %s',
    (name, readBy) => {
      const readers = new Set<string>([
        ...heard.filter(({ topic }) => topic === name).map(({ reader }) => reader),
        ...(FOLLOWED_LOGS.some((log) => log === name) ? ['notifier'] : []),
      ]);
      const named = readBy.split(', ').map((one) => one.replace(/ \(.*\)$/, ''));
      expect(named.filter((one) => !OUTSIDE.includes(one)).sort()).toEqual([...readers].sort());
    },
  );

  it('says in which mode a service reads a log', () => {
    const told = topics.flatMap(({ name, read_by }) =>
      read_by.split(', ').flatMap((one) => {
        const [, reader = '', mode = ''] = /^(.*) \((.*)\)$/.exec(one) ?? [];
        return mode === '' ? [] : [{ topic: name, reader, mode }];
      }),
    );
    expect(told.length).toBeGreaterThan(4);
    expect(heard).toEqual(expect.arrayContaining(told.map((one) => expect.objectContaining(one))));
  });
});
