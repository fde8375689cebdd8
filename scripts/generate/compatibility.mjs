// FULL compatibility of two self-contained schemas: readers of either read writers of the other. Needs no registry.
//
// avsc's resolvers decide what can be read at all. On top of them, rules that resolvers do not hold to: an added or removed
// field has a default (with a path, so that the message can be acted on), an enum that gains or loses symbols had a default
// before, a logical type never changes, bytes and string are not exchanged, a log record keeps its head.
import avsc from 'avsc';

/** Problems between an older and a newer version of one message, each with its path; empty when compatible. */
export function compatibilityProblems(older, newer) {
  const found = differences(older, newer, '', { older: namesIn(older), newer: namesIn(newer), seen: new Set() });
  const problems = [...found, ...headProblems(older, newer)];
  return problems.length > 0
    ? problems
    : [
        ...resolves(older, newer, 'the new version cannot read records of the old one'),
        ...resolves(newer, older, 'the old version cannot read records of the new one'),
      ];
}

function resolves(writer, reader, title) {
  try {
    typeOf(reader).createResolver(typeOf(writer));
    return [];
  } catch (error) {
    return [`${title}: ${error.message}`];
  }
}

const typeOf = (schema) => avsc.Type.forSchema(schema, { wrapUnions: 'never' });

function differences(older, newer, path, names) {
  const [before, after] = [named(older, names.older), named(newer, names.newer)];
  const here = path === '' ? 'the record' : path;
  const [kindBefore, kindAfter] = [kindOf(before), kindOf(after)];
  if (kindBefore !== kindAfter) return [`${here}: type changed from ${kindBefore} to ${kindAfter}`];
  if (Array.isArray(before)) return unionDifferences(before, after, here, names);
  if ((before.logicalType ?? null) !== (after.logicalType ?? null))
    return [`${here}: logical type changed from ${before.logicalType ?? 'none'} to ${after.logicalType ?? 'none'}`];
  if (kindBefore === 'array') return differences(before.items, after.items, `${here}[]`, names);
  if (kindBefore === 'map') return differences(before.values, after.values, `${here}{}`, names);
  return before.name === undefined ? [] : namedDifferences(before, after, path, here, names);
}

function namedDifferences(before, after, path, here, names) {
  if (before.name !== after.name) return [`${here}: renamed from ${before.name} to ${after.name}`];
  if (names.seen.has(before.name)) return [];
  names.seen.add(before.name);
  if (before.type === 'fixed')
    return before.size === after.size ? [] : [`${here}: size changed from ${before.size} to ${after.size}`];
  return before.type === 'enum' ? enumDifferences(before, after, here) : recordDifferences(before, after, path, names);
}

function recordDifferences(before, after, path, names) {
  const at = (field) => (path === '' ? field.name : `${path}.${field.name}`);
  const lacking = (fields, others, what) =>
    fields
      .filter((field) => !others.some(({ name }) => name === field.name) && !('default' in field))
      .map((field) => `${at(field)}: ${what} without a default`);
  return [
    ...lacking(after.fields, before.fields, 'added'),
    ...lacking(before.fields, after.fields, 'removed'),
    ...after.fields.flatMap((field) => {
      const same = before.fields.find(({ name }) => name === field.name);
      return same === undefined ? [] : differences(same.type, field.type, at(field), names);
    }),
  ];
}

function enumDifferences(before, after, here) {
  const added = after.symbols.filter((symbol) => !before.symbols.includes(symbol));
  const removed = before.symbols.filter((symbol) => !after.symbols.includes(symbol));
  return [
    ...(added.length > 0 && before.default === undefined
      ? [`${here}: symbols ${added.join(', ')} added, and old readers have no default for them`]
      : []),
    ...(removed.length > 0 && after.default === undefined
      ? [`${here}: symbols ${removed.join(', ')} removed, and new readers have no default for them`]
      : []),
  ];
}

function unionDifferences(before, after, here, names) {
  const label = (branch, known) => {
    const schema = named(branch, known);
    return schema.name ?? kindOf(schema);
  };
  const [labelsBefore, labelsAfter] = [
    before.map((branch) => label(branch, names.older)),
    after.map((branch) => label(branch, names.newer)),
  ];
  const changed = [
    ...labelsAfter.filter((one) => !labelsBefore.includes(one)).map((one) => `${one} added`),
    ...labelsBefore.filter((one) => !labelsAfter.includes(one)).map((one) => `${one} removed`),
  ];
  if (changed.length > 0) return [`${here}: branches of the union changed: ${changed.join(', ')}`];
  return before.flatMap((branch, index) =>
    differences(branch, after[labelsAfter.indexOf(labelsBefore[index])], here, names),
  );
}

/** The first two fields of a log record are read without a schema, so they stay. */
function headProblems(older, newer) {
  const head = (schema) =>
    schema.fields
      ?.slice(0, 2)
      .map((field) => field.name)
      .join(', ');
  return head(older) === 'seq, prev_hash' && head(newer) !== 'seq, prev_hash'
    ? ['the record no longer begins with seq and prev_hash']
    : [];
}

/** Named types a self-contained schema defines, wherever it does. */
function namesIn(schema, names = new Map()) {
  if (typeof schema !== 'object' || schema === null) return names;
  if (['record', 'enum', 'fixed'].includes(schema.type)) names.set(schema.name, schema);
  for (const inner of Array.isArray(schema)
    ? schema
    : [schema.items, schema.values, ...(schema.fields ?? []).map((field) => field.type)])
    namesIn(inner, names);
  return names;
}

const named = (schema, names) => (typeof schema === 'string' ? (names.get(schema) ?? { type: schema }) : schema);
const kindOf = (schema) => (Array.isArray(schema) ? 'union' : schema.type);
