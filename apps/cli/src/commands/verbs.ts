// Verbs of the command line that schemas tell of (libs/messages): a command, its options and what it sends follow from the fields.
import { VERBS } from '@recourse/messages';
import type { Verb, VerbField } from '@recourse/messages';
import { Option } from 'commander';
import type { Command } from 'commander';
import type { Service } from '../config.js';
import type { Act } from './options.js';
import { addSendAction } from './shapes.js';

/** Adds to a group, such as `recoveries`, the verbs that name it. */
export function addVerbs(group: Command, act: Act, service: Service): void {
  for (const verb of VERBS) {
    const [of, name] = verb.command?.split(' ') ?? [];
    if (of === group.name() && name !== undefined) addVerb(group.command(name), act, service, verb);
  }
}

function addVerb(command: Command, act: Act, service: Service, { says = '', id = 'id', route, fields }: Verb): void {
  const thing = id.replace(/_id$/, '');
  const options = fields.filter(({ name }) => name !== 'reason').map((field) => ({ field, option: optionOf(field) }));
  command.description(says).argument(`<${thing}>`, `${thing} id`);
  for (const { option } of options) command.addOption(option);
  const [, path = ''] = route.split(' ');
  addSendAction<Readonly<Record<string, string | undefined>>>(command, act, {
    service,
    path: (given) => `/${path.replace(':id', encodeURIComponent(given))}`,
    body: (given) =>
      Object.fromEntries(options.map(({ field, option }) => [field.name, said(field, given[option.attributeName()])])),
  });
}

function optionOf({ name, kind, doc, nullable, values, default: otherwise, option, preset, says }: VerbField): Option {
  const dashed = name.replaceAll('_', '-');
  const shown = kind === 'enum' ? dashed : 'text';
  const made = new Option(option ?? `--${dashed} <${shown}>`, says ?? helpOf(doc));
  if (values !== undefined) made.choices(values);
  if (preset !== undefined) made.default(preset);
  return made.makeOptionMandatory(preset === undefined && otherwise === undefined && !nullable);
}

/** A doc as the help says it: no capital, no full stop. */
function helpOf(doc: string): string {
  return doc.charAt(0).toLowerCase() + doc.slice(1).replace(/\.$/, '');
}

/** What a person writes where anything may stand is a note. */
function said({ kind }: VerbField, given: string | undefined): unknown {
  return kind === 'json' && given !== undefined ? { note: given } : given;
}
