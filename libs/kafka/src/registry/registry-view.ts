// What a registry holds, for those who compare it with what it should hold. Reads only, and keeps nothing.
import { Failure } from '@recourse/kernel';

export interface RegistryView {
  subjects(): Promise<readonly string[]>;
  /** The subject's own setting; null where it has none. */
  compatibilityOf(subject: string): Promise<string | null>;
  /** Is this very schema among the versions of the subject? */
  holds(subject: string, schema: string): Promise<boolean>;
}

const TIMEOUT_MS = 20_000;
const NOT_FOUND = 404;

/** A registry by its address, Confluent interface. Errors of each: Failure(REGISTRY_UNAVAILABLE). */
export function viewRegistry(url: string): RegistryView {
  const base = url.replace(/\/+$/, '');
  const ask = async (path: string, body?: object): Promise<unknown> => {
    try {
      const response = await fetch(`${base}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { accept: 'application/json', 'content-type': 'application/json' },
        signal: AbortSignal.timeout(TIMEOUT_MS),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      if (response.status === NOT_FOUND) return null;
      if (!response.ok) throw new Error(`it answered ${String(response.status)}`);
      return await response.json();
    } catch (cause) {
      throw new Failure('REGISTRY_UNAVAILABLE', path, { cause });
    }
  };
  const at = (subject: string): string => encodeURIComponent(subject);
  return {
    subjects: async () => {
      const answer = await ask('/subjects');
      return Array.isArray(answer) ? answer.map(String) : [];
    },
    compatibilityOf: async (subject) => {
      const answer = await ask(`/config/${at(subject)}?defaultToGlobal=false`);
      if (typeof answer !== 'object' || answer === null) return null;
      // Confluent's word, which Apicurio uses too.
      return 'compatibilityLevel' in answer ? String(answer.compatibilityLevel) : null;
    },
    holds: async (subject, schema) => (await ask(`/subjects/${at(subject)}`, { schema })) !== null,
  };
}
