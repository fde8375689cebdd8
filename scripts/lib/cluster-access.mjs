// Who may read and write which topic, from what schemas/topics.json says of writers and readers. Pure.
//
// The chart (deploy/helm/recourse) makes users of it; whoever sets up a cluster otherwise can do the same.

/** Who is no service of ours; each has users of its own, as many as an installation names. */
const ROLES = /** @type {const} */ (['producer', 'worker', 'consumer', 'auditor']);

/** Words of the catalogue for those outside. */
const OUTSIDE = { 'any producer': 'producer', producers: 'producer', workers: 'worker', consumers: 'consumer' };
/** They reach a command wire through the edge of the service that reads it, which signs: the broker lets nobody else write there. */
const EDGE = 'HTTP edge';
const THROUGH_THE_EDGE = new Set([EDGE, 'CLI', 'SDK', 'critics']);
const BESIDE_THE_SERVICES = ['notifier'];

const words = (text) => text.split(',').map((word) => word.replace(/\(.*\)/, '').trim());

/** `recourse.tool-requests.` of a topic that stands for its siblings; null for any other. */
export const familyOf = (name) => (name.split('.').length > 2 ? name.slice(0, name.lastIndexOf('.') + 1) : null);

/**
 * The access that every service and role has.
 *
 * A service writes its own logs and the wires the catalogue says. It also writes the wires it reads: a record that lies on the
 * wrong partition is sent home (L14). It reads its own logs, and nothing that it is not said to read.
 *
 * @param {readonly import('./cluster-access.d.mts').CatalogueTopic[]} topics
 */
export function clusterAccess(topics) {
  const services = [...new Set(topics.filter(({ kind }) => kind !== 'wire').map(({ written_by }) => written_by))];
  const known = new Set([...services, ...BESIDE_THE_SERVICES, ...ROLES]);
  const access = new Map([...known].map((name) => [name, { reads: new Set(), writes: new Set() }]));
  const grant = (who, operation, topic) => {
    const granted = access.get(who);
    if (granted === undefined) throw new Error(`schemas/topics.json: ${topic.name}: nobody is called ${who}`);
    granted[operation].add(topic.name);
  };
  for (const topic of topics) {
    const readers = words(topic.read_by).map((who) => OUTSIDE[who] ?? who);
    for (const who of readers) grant(who, 'reads', topic);
    for (const who of writersOf(topic, readers)) grant(who, 'writes', topic);
    if (topic.kind === 'wire') {
      for (const who of readers.filter((reader) => services.includes(reader))) grant(who, 'writes', topic);
      continue;
    }
    grant(topic.written_by, 'reads', topic);
    grant('auditor', 'reads', topic);
  }
  const listed = (name) => ({
    name,
    reads: [...access.get(name).reads].sort(),
    writes: [...access.get(name).writes].sort(),
  });
  return { services: [...services, ...BESIDE_THE_SERVICES].map(listed), roles: ROLES.map(listed) };
}

/** A log has one writer; a command wire is written by the edge of who reads it. */
function writersOf({ name, kind, written_by }, readers) {
  const writers = words(written_by);
  if (kind !== 'wire' && writers.length !== 1)
    throw new Error(`schemas/topics.json: ${name}: a log has one writer, not ${written_by}`);
  return writers.flatMap((who) => {
    if (who === EDGE) return readers;
    return THROUGH_THE_EDGE.has(who) ? [] : [OUTSIDE[who] ?? who];
  });
}
