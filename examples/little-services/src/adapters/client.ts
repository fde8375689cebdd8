// Asking a little service. Only a refusal of what was asked, or a request that never left, proves that nothing happened.
import { askProvider, Unsettled } from '@recourse/example-drifted-refund';
import type { HttpAsk } from '@recourse/example-drifted-refund';
import { z } from 'zod';
import type { Doc } from '../services/world.js';

const effectsShape = z.object({ effects: z.array(z.object({ thing: z.string() })) });
const thingsShape = z.object({ things: z.array(z.record(z.string(), z.json())) });
/** Longer than every contract waits, so that whoever calls gives up first. */
const TIMEOUT_MS = 20_000;

/** What an adapter needs of the services. Errors: ToolRejected for a refusal, any other when nobody knows. */
export interface Services {
  operate(
    operation: string,
    body: Doc,
    headers?: { readonly key?: string | null; readonly ifMatch?: string | null },
  ): Promise<Doc>;
  /** One thing; null when it is not there. */
  find(service: string, id: string): Promise<Doc | null>;
  /** Things of a service whose fields are these. */
  things(service: string, where: Readonly<Record<string, string>>): Promise<readonly Doc[]>;
  /** Id of what an operation made under a key; null when it made nothing. */
  madeUnder(operation: string, key: string): Promise<string | null>;
}

/** The services over HTTP. */
export class ServicesClient implements Services {
  constructor(private readonly url: string) {}

  operate(
    operation: string,
    body: Doc,
    { key = null, ifMatch = null }: { readonly key?: string | null; readonly ifMatch?: string | null } = {},
  ): Promise<Doc> {
    const headers = {
      ...(key === null ? {} : { 'idempotency-key': key }),
      ...(ifMatch === null ? {} : { 'if-match': ifMatch }),
    };
    return this.ask(`/${operation}`, { method: 'POST', body, headers });
  }

  async find(service: string, id: string): Promise<Doc | null> {
    try {
      return await this.ask(`/things/${service}/${encodeURIComponent(id)}`);
    } catch (error) {
      if (error instanceof Unsettled && error.status === 404) return null;
      throw error;
    }
  }

  async things(service: string, where: Readonly<Record<string, string>>): Promise<readonly Doc[]> {
    return thingsShape.parse(await this.ask(`/things/${service}?${new URLSearchParams(where).toString()}`)).things;
  }

  async madeUnder(operation: string, key: string): Promise<string | null> {
    const { effects } = effectsShape.parse(
      await this.ask(`/effects?${new URLSearchParams({ operation, key }).toString()}`),
    );
    return effects[0]?.thing ?? null;
  }

  private async ask(path: string, how: HttpAsk = {}): Promise<Doc> {
    return askProvider('the services', `${this.url}${path}`, { ...how, timeoutMs: TIMEOUT_MS });
  }
}
