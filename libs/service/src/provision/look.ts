// A cluster as it stands: reads what `differencesOf` compares. Changes nothing.
import type { Kafka, RegistryView } from '@recourse/kafka';
import type { ClusterFacts, SubjectFacts } from './differences.js';
import type { ClusterPlan } from './plan.js';
import { plannedSubjects, plannedTopics } from './topics.js';

/** Subjects asked for side by side. */
const ASKED_AT_ONCE = 4;

/** Errors: Failure(BROKER_UNAVAILABLE, BROKER_REFUSED, REGISTRY_UNAVAILABLE). */
export async function lookAtCluster(
  plan: ClusterPlan,
  { kafka, registry }: { readonly kafka: Pick<Kafka, 'admin'>; readonly registry: RegistryView },
): Promise<ClusterFacts> {
  const admin = await kafka.admin();
  try {
    const [topics, access] = [
      await admin.topicFacts(plannedTopics(plan).map(({ name }) => name)),
      plan.users === null ? null : await admin.accessRules(),
    ];
    return { topics, access, subjects: await subjectsOf(plan, registry) };
  } finally {
    await admin.close();
  }
}

async function subjectsOf(plan: ClusterPlan, registry: RegistryView): Promise<ReadonlyMap<string, SubjectFacts>> {
  const existing = new Set(await registry.subjects());
  const waiting = plannedSubjects(plan).filter(({ subject }) => existing.has(subject));
  const found = new Map<string, SubjectFacts>();
  await Promise.all(
    Array.from({ length: ASKED_AT_ONCE }, async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { subject, schema } = next;
        found.set(subject, {
          compatibility: await registry.compatibilityOf(subject),
          isCurrent: await registry.holds(subject, schema),
        });
      }
    }),
  );
  return found;
}
