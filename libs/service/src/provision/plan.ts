// What a cluster should be, as data: who provisions one writes it, `recourse provision --check` reads it.
import { z } from 'zod';

const NAME = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/);
const ADAPTER = z.string().regex(/^[a-z][a-z0-9-]{0,62}$/);

const user = z.discriminatedUnion('as', [
  /** Its name is that of the service, unless `service` says which it is. */
  z.strictObject({ as: z.literal('service'), name: NAME, service: NAME.optional() }),
  /** Writes what tools did and what was stated. */
  z.strictObject({ as: z.literal('producer'), name: NAME }),
  /** Serves adapters: reads their requests, and reports. One that `observes` looks at what others did, and joins those who do. */
  z.strictObject({
    as: z.literal('worker'),
    name: NAME,
    adapters: z.array(ADAPTER).min(1),
    observes: z.literal(true).optional(),
  }),
  /** Judges what others did: states, and asks for rollbacks under its own signature. */
  z.strictObject({ as: z.literal('critic'), name: NAME }),
  /** Hears of rollbacks, and says what it did about them. */
  z.strictObject({ as: z.literal('consumer'), name: NAME }),
  /** Follows every log and the public wires, and signs heads of them in its own log. */
  z.strictObject({ as: z.literal('auditor'), name: NAME }),
  /** Audits and checks; changes nothing. */
  z.strictObject({ as: z.literal('operator'), name: NAME }),
]);

const plan = z.strictObject({
  /** Of every topic that is partitioned. */
  partitions: z.int().min(1),
  replication: z.int().min(1),
  min_insync_replicas: z.int().min(1),
  /** Each has its request topic. */
  adapters: z.array(ADAPTER),
  /** Null: the cluster asks nobody who they are. */
  users: z.array(user).nullable(),
});

export type ClusterUser = z.infer<typeof user>;
export type ClusterPlan = z.infer<typeof plan>;

/** Reads a plan. Errors: ZodError. */
export function clusterPlanIn(json: unknown): ClusterPlan {
  return plan.parse(json);
}
