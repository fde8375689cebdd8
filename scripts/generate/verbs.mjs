// What people and agents ask for: the commands that have a route, with the fields they give. Read from `verb` of a command's
// schema; the HTTP edge (libs/service) and the command line (apps/cli) are made of this list.
//
// Shape of `verb`, or of each where a command has several routes:
//   route      `POST v1/steps/:id/escalate`; `status` where its acceptance is not answered with 200
//   summary    a sentence for the OpenAPI page
//   id         field that `:id` is; without it and without `of`, the path names the thing for its reader alone
//   of         column of the row that `:id` is, where the record has no such field
//   found      fields that the row of `:id` gives, such as the record key
//   sets       fields that the route itself says
//   offered    phases of the thing in which a person is offered it, and what it `needs` then
//   command    `recoveries escalate`, with `says` for its help; none where the command line does more than to send it
// and of `asked` of a field: `max` of a text, `min` of a number, `default` over HTTP, `option` and `preset` on the command line.
import { fullNameOf, namespaceOf, shortName } from './catalogue.mjs';

const FILE = 'libs/messages/src/generated/verbs.ts';
const KINDS = { string: 'text', boolean: 'flag', int: 'number', long: 'number', 'timestamp-millis': 'instant' };
const RECORD_KINDS = {
  'recourse.common.Payload': 'json',
  'recourse.common.Money': 'money',
  'recourse.common.Hash': 'hash',
};

/** The list, as `{ path, text }`. Errors: a field no edge can ask for. */
export function verbFiles(catalogue) {
  const verbs = catalogue.topics.flatMap(({ name: topic, records }) =>
    records
      .map((record) => catalogue.types.get(record))
      .flatMap((type) => [type.schema.verb ?? []].flat().map((verb) => verbOf(topic, type, verb, catalogue))),
  );
  const lines = verbs.map((verb) => `  ${JSON.stringify(verb)},\n`).join('');
  return [
    {
      path: FILE,
      text: `// Generated from schemas/ by scripts/generate.mjs. Do not edit.
import type { Verb } from '../verb.js';

/** Commands with a route, in the order of their topics. */
export const VERBS: readonly Verb[] = [
${lines}];
`,
    },
  ];
}

function verbOf(topic, { fullName, schema }, verb, catalogue) {
  const given = new Set(['envelope', verb.id, ...(verb.found ?? []), ...Object.keys(verb.sets ?? {})]);
  const fields = schema.fields.filter(({ name }) => !given.has(name));
  return { type: fullName, topic, ...verb, fields: fields.map((field) => fieldOf(fullName, field, catalogue)) };
}

function fieldOf(record, { name, type, doc, asked = {} }, catalogue) {
  const branches = Array.isArray(type) ? type : [type];
  const [one] = branches.filter((branch) => branch !== 'null');
  const found = kindOf(one, namespaceOf(record), catalogue);
  if (found === null) throw new Error(`${record}.${name}: no edge can ask for its type`);
  return { name, doc, ...found, nullable: branches.includes('null'), ...asked };
}

/** Name of a plain type; of what it stands for, where it says that. */
function nameOf(type) {
  return type?.logicalType ?? type?.type ?? type;
}

function kindOf(type, namespace, catalogue) {
  const plain = KINDS[nameOf(type)];
  if (plain !== undefined) return { kind: plain };
  if (type?.type === 'array') return type.items === 'recourse.common.Money' ? { kind: 'moneys' } : null;
  const schema = typeof type === 'string' ? catalogue.types.get(fullNameOf(type, namespace))?.schema : type;
  if (schema?.type === 'enum')
    return { kind: 'enum', values: schema.symbols.filter((symbol) => symbol !== schema.default) };
  const kind =
    schema === undefined ? undefined : RECORD_KINDS[fullNameOf(shortName(schema.name), schema.namespace ?? namespace)];
  return kind === undefined ? null : { kind };
}
