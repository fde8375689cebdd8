// What a process of the example reads from its environment; every problem at once.
import { z } from 'zod';

const port = z.coerce.number().int().min(0).max(65_535).default(0);
const url = z.url({ protocol: /^https?$/ }).transform((text) => text.replace(/\/$/, ''));

const VARIABLES = {
  PORT: port,
  DATA_DIR: z.string().min(1),
  RECOURSE_KAFKA_BROKERS: z
    .string()
    .min(1)
    .transform((text) => text.split(',').map((broker) => broker.trim())),
  /** One `host:port` that every connection to a broker goes to: a tunnel, a proxy. */
  RECOURSE_KAFKA_VIA: z.string().min(1).optional(),
  /** Schema registry. */
  RECOURSE_REGISTRY_URL: url,
  RECOURSE_LOG_ID: z.string().min(1),
  RECOURSE_CONTRACTS_URL: url,
  RECOURSE_ISSUER_URL: url,
  RECOURSE_BUDGET_URL: url.optional(),
  PROVIDER_URL: url,
  LOYALTY_URL: url.optional(),
  /** The little services. */
  SERVICES_URL: url,
  /** Adapters a worker answers for, with commas. */
  ADAPTERS: z
    .string()
    .min(1)
    .transform((text) => text.split(',').map((adapter) => adapter.trim())),
  /** What the notifier signs with: `whsec_` and base64. */
  WEBHOOK_SECRET: z.string().startsWith('whsec_'),
  TENANT: z.string().min(1).default('demo'),
  /** Name under which loyalty subscribes to rollbacks; without it it only follows them. */
  SUBSCRIBED_AS: z.string().min(1).optional(),
  /** Where spans of calls go; without it none is told. */
  RECOURSE_TRACE_FILE: z.string().min(1).optional(),
  /** The worker acts on nothing: it looks at what another did. */
  OBSERVES: z.stringbool().default(false),
  WORKER_ID: z.string().min(1).default('payments-worker'),
  /** Longest a worker waits for one answer of its provider, milliseconds. */
  CALL_TIMEOUT_MS: z.coerce.number().int().min(100).max(60_000).default(2_000),
} as const;

type Variables = typeof VARIABLES;

/** Reads the variables named. Errors: one that lists every problem. */
export function readEnvironment<Name extends keyof Variables>(
  ...names: readonly Name[]
): { readonly [Key in Name]: z.infer<Variables[Key]> } {
  const problems: string[] = [];
  const values = names.map((name) => {
    const read = VARIABLES[name].safeParse(process.env[name]);
    if (!read.success) problems.push(`${name}: ${read.error.issues.map(({ message }) => message).join('; ')}`);
    return [name, read.data] as const;
  });
  if (problems.length > 0) throw new Error(`the environment does not fit:\n${problems.join('\n')}`);
  // Each value came from the schema of its own name.
  return Object.fromEntries(values) as { readonly [Key in Name]: z.infer<Variables[Key]> };
}
