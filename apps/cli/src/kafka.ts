// Kafka as the command line reaches it.
import { accessOf, createKafka } from '@recourse/kafka';
import type { Kafka, Signing } from '@recourse/kafka';
import { known } from './config.js';
import type { Settings } from './config.js';

/** A client as a user, where Kafka asks. `signing`: null to read logs as they lie. Errors: CliProblem(ADDRESS_UNKNOWN, ENVIRONMENT_INVALID). */
export function kafkaAs(
  settings: Settings,
  name: string,
  { signing = settings.signing({ user: name }) }: { readonly signing?: Signing | null } = {},
): Kafka {
  const { user, password, ca } = settings.kafkaAs(name);
  return createKafka({
    brokers: known(settings.brokers, 'where Kafka is', '--brokers'),
    clientId: 'recourse-cli',
    signing,
    ...accessOf({ user: user ?? undefined, password: password ?? undefined, ca: ca ?? undefined }),
  });
}
