// A stack, the four services, and the little services with their worker, for the stories told over them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { planSystem, startProcesses, startTestStack } from '@recourse/dev-stack';
import type { Place } from '@recourse/example-little-services';

export interface LittleSystem {
  readonly place: Place;
  /** What was told so far. */
  readonly lines: readonly string[];
  readonly stop: () => Promise<void>;
}

/** Starts all of it. Errors: the first part that does not become ready, with its log. */
export async function startLittleSystem(): Promise<LittleSystem> {
  const stack = await startTestStack({ withSchemas: true });
  const dataDir = mkdtempSync(join(tmpdir(), 'recourse-little-'));
  const stopStack = async (): Promise<void> => {
    await stack.stop();
    rmSync(dataDir, { recursive: true, force: true });
  };
  try {
    const { processes: specs, urls } = await planSystem(stack, {
      dataDir,
      withExample: false,
      withLittleServices: true,
    });
    const processes = await startProcesses(specs, { logDir: stack.logDir, book: stack.book });
    const lines: string[] = [];
    const place = {
      urls,
      brokers: stack.kafka.brokers,
      registryUrl: stack.registryUrl,
      say: (line: string) => {
        lines.push(line);
      },
    };
    return {
      place,
      lines,
      stop: async () => {
        await processes.stop();
        await stopStack();
      },
    };
  } catch (cause) {
    await stopStack();
    throw cause;
  }
}

/** Everything the services hold, as anybody can ask them. */
export async function stateOf({ urls }: Place): Promise<{
  readonly effects: readonly { readonly operation: string; readonly thing: string }[];
  readonly notices: readonly { readonly to: string }[];
}> {
  // Answered by examples/little-services.
  return (await (await fetch(`${urls.services}/state`)).json()) as Awaited<ReturnType<typeof stateOf>>;
}
