// Addresses. What a screen shows is in its address, so that it can be kept, sent and come back to.
import { createRootRouteWithContext, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import type { QueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import * as z from 'zod/mini';
import type { Live } from '../live/live.js';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { LINEAGE_SEARCH, lineageQuery } from '../screens/lineage.query.js';
import type { LineageSearch } from '../screens/lineage.query.js';
import { INBOX_SEARCH } from '../screens/inbox.search.js';
import { ApiProblem } from '../api/problem.js';
import { NAME } from './addresses.js';
import { RUN_ADDRESS } from './run-address.js';
import { Shell } from './shell.tsx';
import { SignedOut } from './signed-out.tsx';
import { sessionQuery } from './session.js';

export interface Context {
  readonly queries: QueryClient;
  readonly live: Live;
}

const root = createRootRouteWithContext<Context>()({
  loader: ({ context }) => context.queries.query({ ...sessionQuery, staleTime: 'static' }),
  component: Framed,
  errorComponent: FailedAtAll,
  notFoundComponent: () => <p>There is no such screen. The address may be mistyped.</p>,
});

function Framed(): ReactNode {
  const { live } = root.useRouteContext();
  return <Shell live={live} />;
}

function Failed({ error }: { readonly error: unknown }): ReactNode {
  return (
    <Trouble
      cause={error}
      onAgain={() => {
        location.reload();
      }}
    />
  );
}

/** Outside the shell: nobody is signed in, or nobody could find out. */
function FailedAtAll({ error }: { readonly error: unknown }): ReactNode {
  if (error instanceof ApiProblem && error.code === 'SESSION_MISSING') return <SignedOut />;
  return (
    <main>
      <Failed error={error} />
    </main>
  );
}

/** A search that is not as it must be is told, not guessed at. */
function searchOf<T>(schema: z.ZodMiniType<T>): (search: unknown) => T {
  return (search) => {
    const read = schema.safeParse(search);
    if (read.success) return read.data;
    const where = read.error.issues.map(({ path }) => path.join('.')).join(', ');
    throw new ApiProblem('ADDRESS_INVALID', 400, `Look at: ${where}`);
  };
}

const name = z.optional(NAME);

const inbox = createRoute({
  getParentRoute: () => root,
  path: '/',
  validateSearch: searchOf(INBOX_SEARCH),
  component: lazyRouteComponent(() => import('../screens/inbox.tsx'), 'Inbox'),
});
const review = createRoute({
  getParentRoute: () => root,
  path: '/reviews/$stepId',
  component: lazyRouteComponent(() => import('../screens/review.tsx'), 'ReviewScreen'),
});
const item = createRoute({
  getParentRoute: () => root,
  path: '/items/$kind/$id',
  validateSearch: searchOf(z.object({ run: name })),
  component: lazyRouteComponent(() => import('../screens/item.tsx'), 'ItemScreen'),
});
const runs = createRoute({
  getParentRoute: () => root,
  path: '/runs',
  validateSearch: searchOf(z.object({ id: name, before: name })),
  component: lazyRouteComponent(() => import('../screens/runs.tsx'), 'Runs'),
});
const run = createRoute({
  getParentRoute: () => root,
  ...RUN_ADDRESS,
  validateSearch: searchOf(z.object({ tenant: name })),
  component: lazyRouteComponent(() => import('../screens/run.tsx'), 'RunScreen'),
});
const lineage = createRoute({
  getParentRoute: () => root,
  path: '/lineage/$commitId',
  validateSearch: searchOf(LINEAGE_SEARCH),
  loaderDeps: ({ search }: { readonly search: LineageSearch }) => search,
  // The ledger sums up while the screen loads; the screen says what came of it.
  loader: ({ context, params, deps }) => {
    context.queries.query(lineageQuery(params.commitId, deps)).catch(() => undefined);
  },
  component: lazyRouteComponent(() => import('../screens/lineage.tsx'), 'LineageScreen'),
});
const exposure = createRoute({
  getParentRoute: () => root,
  path: '/exposure',
  component: lazyRouteComponent(() => import('../screens/exposure.tsx'), 'Exposure'),
});
const autonomy = createRoute({
  getParentRoute: () => root,
  path: '/autonomy/$id',
  component: lazyRouteComponent(() => import('../screens/autonomy.tsx'), 'AutonomyScreen'),
});
const workers = createRoute({
  getParentRoute: () => root,
  path: '/workers',
  component: lazyRouteComponent(() => import('../screens/workers.tsx'), 'Workers'),
});
const drafts = createRoute({
  getParentRoute: () => root,
  path: '/contracts/draft',
  component: lazyRouteComponent(() => import('../screens/drafts.tsx'), 'Drafts'),
});
const contracts = createRoute({
  getParentRoute: () => root,
  path: '/contracts',
  validateSearch: searchOf(z.object({ find: name })),
  component: lazyRouteComponent(() => import('../screens/contracts.tsx'), 'Contracts'),
});
const contract = createRoute({
  getParentRoute: () => root,
  path: '/contracts/$name',
  validateSearch: searchOf(z.object({ of: name, against: z.optional(z.number()) })),
  component: lazyRouteComponent(() => import('../screens/contract.tsx'), 'ContractScreen'),
});
const parties = createRoute({
  getParentRoute: () => root,
  path: '/parties',
  component: lazyRouteComponent(() => import('../screens/parties.tsx'), 'Parties'),
});
const health = createRoute({
  getParentRoute: () => root,
  path: '/audit',
  component: lazyRouteComponent(() => import('../screens/health.tsx'), 'Health'),
});

export function routerFor(context: Context) {
  return createRouter({
    routeTree: root.addChildren([
      inbox,
      review,
      item,
      runs,
      run,
      lineage,
      exposure,
      autonomy,
      workers,
      drafts,
      contracts,
      contract,
      parties,
      health,
    ]),
    context,
    defaultPreload: false,
    defaultErrorComponent: Failed,
    defaultPendingComponent: () => <Waiting what="this screen" />,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof routerFor>;
  }
}
