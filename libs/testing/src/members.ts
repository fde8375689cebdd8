// Records with members, as one record for each of them: specs that ask about one thing need not know with which others it came.

type Fields = Readonly<Record<string, unknown>>;

/** Records with one for each of their members, in order: what is common, and what the member says. */
export function eachMember<Told extends { readonly body: Fields }>(records: readonly Told[]): readonly Told[] {
  return records.flatMap((told) => {
    const { members, others, ...common } = told.body;
    if (Array.isArray(others))
      return besideOthers(common, others as readonly Fields[]).map((body) => ({ ...told, body }));
    if (!Array.isArray(members)) return [told];
    return members.map((member: Fields) => {
      const step = (member['step'] ?? {}) as Fields; // what a worker is asked of a step
      return { ...told, body: { ...common, ...step, ...member, ...rootedIn(common, member) } };
    });
  });
}

/** What a record says on top is its first member. */
function besideOthers(first: Fields, others: readonly Fields[]): readonly Fields[] {
  return [first, ...others.map((one) => ({ ...first, ...one, ...rootedIn(first, one) }))];
}

/** Why, with the root of the member: the evidence of a record, or the cause of a notice. */
function rootedIn(common: Fields, { root }: Fields): Fields {
  if (root === undefined) return {};
  const name = common['caused_by'] === undefined ? 'evidence' : 'caused_by';
  return { [name]: { ...(common[name] as Fields), root } }; // a record by the schema
}
