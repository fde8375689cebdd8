// What surrounds every screen: where one can go, who one is, and whether what is seen is live.
import { Link, Outlet, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { EDGE_WORDS } from '../api/clients.js';
import type { Live } from '../live/live.js';
import { useLive } from '../live/live.js';
import { Time } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { signOut } from './own.js';
import { signIn, usePerson } from './session.js';
import { useTheme } from './theme.js';
import { KeysHelp } from './keys.tsx';

const PLACES = [
  ['/', 'Inbox'],
  ['/runs', 'Runs'],
  ['/exposure', 'Exposure'],
  ['/contracts', 'Contracts'],
  ['/parties', 'Sources and consumers'],
  ['/workers', 'Workers'],
  ['/audit', 'Audit and health'],
] as const;

export function Shell({ live }: { readonly live: Live }): ReactNode {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [trouble, setTrouble] = useState<unknown>(null);
  useEffect(() => {
    live.open();
    return () => {
      live.close();
    };
  }, [live]);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Link to="/" className="brand">
          Recourse
        </Link>
        <nav aria-label="Screens">
          <ul>
            {PLACES.map(([to, name]) => (
              <li key={to}>
                <Link
                  to={to}
                  activeProps={{ 'aria-current': 'page' }}
                  activeOptions={{ exact: to === '/', includeSearch: false }}
                >
                  {name}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <Who
          live={live}
          onTrouble={setTrouble}
          onHelp={() => {
            setHelpOpen(true);
          }}
        />
      </header>
      <LiveBar live={live} />
      {trouble === null ? null : <Trouble cause={trouble} />}
      <Screen />
      <KeysHelp isOpen={isHelpOpen} onOpen={setHelpOpen} />
    </>
  );
}

/** Focus goes to the new screen, as it would with a new page. */
function Screen(): ReactNode {
  const path = useRouterState({ select: ({ location }) => location.pathname });
  useEffect(() => {
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [path]);
  return (
    <main id="main" tabIndex={-1}>
      <Suspense fallback={<Waiting what="this screen" />}>
        <Outlet />
      </Suspense>
    </main>
  );
}

interface WhoProps {
  readonly live: Live;
  readonly onHelp: () => void;
  /** Signing out came to nothing. */
  readonly onTrouble: (cause: unknown) => void;
}

function Who({ live, onHelp, onTrouble }: WhoProps): ReactNode {
  const person = usePerson();
  const [theme, nextTheme] = useTheme();
  return (
    <div className="who">
      <span title={person.roles.join(', ')}>
        <b>{person.subject}</b>{' '}
        <span className="quiet">of {person.tenant === '*' ? 'all tenants' : person.tenant}</span>
      </span>
      <button type="button" onClick={nextTheme} title="Light, dark, or as the system has it">
        {theme === 'system' ? 'Theme: system' : `Theme: ${theme}`}
      </button>
      <button type="button" onClick={onHelp} aria-keyshortcuts="?">
        Keys
      </button>
      <button
        type="button"
        onClick={() => {
          onTrouble(null);
          signOut(person.csrf, live).catch(onTrouble);
        }}
      >
        Sign out
      </button>
    </div>
  );
}

function LiveBar({ live }: { readonly live: Live }): ReactNode {
  const { stream, since, away } = useLive(live);
  return (
    <div className="livebar" role="status">
      {stream === 'on' && away.length === 0 ? <span className="live">Live</span> : null}
      {stream === 'connecting' ? <span className="quiet">Connecting to live updates …</span> : null}
      {stream === 'lost' ? (
        <strong>
          Live updates were lost <Time at={since} />. What you see may be old; trying again.
        </strong>
      ) : null}
      {stream === 'ended' ? (
        <strong>
          You are not signed in any more.{' '}
          <button type="button" onClick={signIn}>
            Sign in
          </button>
        </strong>
      ) : null}
      {stream === 'on' && away.length > 0 ? (
        <strong>
          No answer from {away.map((name) => EDGE_WORDS[name]).join(', ')}. What it knows is missing here, or old.
        </strong>
      ) : null}
    </div>
  );
}
