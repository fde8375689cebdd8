// The page starts here.
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { setNonce } from 'get-nonce';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { ApiProblem } from './api/problem.js';
import { routerFor } from './app/router.tsx';
import { forgetDrafts } from './app/own.js';
import { signIn, whoIsHere } from './app/session.js';
import { alone, linePartsOf, onSaid, pause, seen, start } from './live/browser.js';
import { holds } from './live/holds.js';
import { Live } from './live/live.js';
import './styles.css';

// Components that add a style sheet sign it with the word of this document.
setNonce(document.querySelector<HTMLMetaElement>('meta[name=csp-nonce]')?.content ?? '');

const TRIES_MAX = 2;
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // The stream says when something moved; nothing is read again because a window got the focus.
      staleTime: 30_000,
      refetchOnWindowFocus: false,
      retry: (count, cause) => count < TRIES_MAX && cause instanceof ApiProblem && cause.status >= 500,
      retryDelay: 400,
    },
  },
});
const ASK_EVERY_MS = 1_000;
/** Goes elsewhere; nothing more happens here. */
const gone = (go: () => void): Promise<never> => {
  go();
  return new Promise(() => undefined);
};
const live = new Live(
  queries,
  {
    free: () => holds.free(),
    seen,
    alone,
    who: () => whoIsHere(queries),
    pause: () => pause(ASK_EVERY_MS),
    leave: () =>
      gone(() => {
        forgetDrafts();
        location.assign('/');
      }),
    reload: () =>
      gone(() => {
        location.reload();
      }),
    signIn: () => gone(signIn),
  },
  { start, linePartsOf, onSaid, pause },
);
const router = routerFor({ queries, live });

const place = document.getElementById('page');
if (place === null) throw new Error('the document has no place for the page');
createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
