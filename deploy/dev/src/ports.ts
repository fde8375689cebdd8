// Free ports on 127.0.0.1. A recorded port is taken again when nobody else has it meanwhile.
//
// Invariants
//   I1. What is chosen lies below the ports that systems give to outgoing connections (Linux from 32,768, others from 49,152):
//       between the choice and the start of its program a stack opens hundreds of those, and any could get it.
import { randomInt } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

/** Every listener of the stack. */
export interface StackPorts {
  readonly kafka: number;
  readonly controller: number;
  readonly registry: number;
  readonly registryManagement: number;
  readonly postgres: number;
}

export const PORT_NAMES = [
  'kafka',
  'controller',
  'registry',
  'registryManagement',
  'postgres',
] as const satisfies readonly (keyof StackPorts)[];

/** From where ports are chosen, and below where. */
const FIRST_PORT = 20_000;
const END_PORT = 32_768;

/**
 * Reserves different free ports for the names, each its preferred one when that is free.
 *
 * Shape:   the listeners are held until all are chosen, so no two names get the same port. They lie side by side from a place of
 *          chance, so that two stacks that choose at the same time hardly meet.
 * Errors:  Error when no port is free; one can still be lost before its program binds it, so a start is tried twice.
 */
export async function choosePorts<Name extends string>(
  names: readonly Name[],
  preferred: Partial<Record<Name, number>> = {},
): Promise<Record<Name, number>> {
  const held: { readonly name: Name; readonly port: number; close(): Promise<void> }[] = [];
  const others = portsFrom(randomInt(FIRST_PORT, END_PORT));
  try {
    for (const name of names) {
      const wish = preferred[name];
      held.push({ name, ...((wish === undefined ? null : await hold(wish)) ?? (await holdNext(others))) });
    }
    // Object.fromEntries forgets the key type; every name was just pushed once.
    return Object.fromEntries(held.map(({ name, port }) => [name, port])) as Record<Name, number>;
  } finally {
    await Promise.all(held.map((one) => one.close()));
  }
}

/**
 * The same for programs that others keep the addresses of: whoever had a port in this data directory before gets it again where it is free.
 *
 * Shape:   ports.json in `dataDir` holds them by name; one that is torn counts as none.
 * Errors:  those of choosePorts and of writing the file.
 */
export async function choosePortsAgain(dataDir: string, names: readonly string[]): Promise<Record<string, number>> {
  const file = join(dataDir, 'ports.json');
  const before = recordedIn(file);
  const ports = await choosePorts(names, before);
  writeFileSync(file, `${JSON.stringify({ ...before, ...ports }, null, 2)}\n`);
  return ports;
}

function recordedIn(file: string): Record<string, number> {
  try {
    const found: unknown = JSON.parse(readFileSync(file, 'utf8'));
    const entries = typeof found === 'object' && found !== null ? Object.entries(found) : [];
    return Object.fromEntries(entries.filter((entry): entry is [string, number] => isPort(entry[1])));
  } catch {
    return {};
  }
}

function isPort(value: unknown): boolean {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= 65_535;
}

interface HeldPort {
  readonly port: number;
  close(): Promise<void>;
}

/** Each port once, from a place on and around. */
function* portsFrom(first: number): Generator<number, undefined> {
  for (let port = first; port < END_PORT; port += 1) yield port;
  for (let port = FIRST_PORT; port < first; port += 1) yield port;
}

async function holdNext(ports: Iterator<number, undefined>): Promise<HeldPort> {
  for (let next = ports.next(); next.done !== true; next = ports.next()) {
    const held = await hold(next.value);
    if (held !== null) return held;
  }
  throw new Error(
    `found no free port on 127.0.0.1 from ${String(FIRST_PORT)} to ${String(END_PORT - 1)}; end programs that hold many ports`,
  );
}

/** Binds the port; null when somebody else has it. */
function hold(port: number): Promise<HeldPort | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(null);
    });
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      const bound = typeof address === 'object' && address !== null ? address.port : port;
      resolve({
        port: bound,
        close: () =>
          new Promise((closed) => {
            server.close(() => {
              closed();
            });
          }),
      });
    });
  });
}
