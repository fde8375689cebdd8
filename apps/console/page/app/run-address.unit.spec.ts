// A run is called as somebody pleased: its address leads to it, and to nothing else.
import { describe, expect, it } from '@jest/globals';
import { createMemoryHistory, createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { RUN_ADDRESS } from './run-address.js';

const root = createRootRoute();
const tree = root.addChildren([
  createRoute({ getParentRoute: () => root, path: '/' }),
  createRoute({ getParentRoute: () => root, path: '/runs' }),
  createRoute({ getParentRoute: () => root, ...RUN_ADDRESS }),
]);
const routerAt = (address: string) =>
  createRouter({ routeTree: tree, history: createMemoryHistory({ initialEntries: [address] }) });

/** The address as a browser has it once a link to the run was followed. */
function addressOf(run: string): string {
  const { href } = routerAt('/').buildLocation({ to: '/runs/$runId', params: { runId: run } });
  const { pathname, search, hash } = new URL(href, 'https://console.example');
  return `${pathname}${search}${hash}`;
}

describe('the address of a run', () => {
  it.each(['run_1', '.', '..', '...', '~', '~.', '~..', '~~..', '/', 'a/../b', '%2F', '%2e%2e', 'a?b#c', '退款 \\+'])(
    'leads to the run that is called %j',
    async (run) => {
      const router = routerAt(addressOf(run));
      await router.load();
      expect(router.state.matches.map(({ routeId, params }) => [routeId, params]).at(-1)).toEqual([
        '/runs/$runId',
        { runId: run },
      ]);
    },
  );
});
