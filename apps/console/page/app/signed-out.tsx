// Before anybody is signed in: what this is, in a minute.
import type { ReactNode } from 'react';
import { signIn } from './session.js';

export function SignedOut(): ReactNode {
  return (
    <main className="welcome" id="main">
      <h1>Recourse</h1>
      <p className="lead">
        Agents act on the real world. Sometimes what an action relied on turns out to be false after it was done. Here
        people see what then stands wrong, how it can be undone and until when, and decide.
      </p>
      <ol>
        <li>An agent acts. The way back is bound in that moment, by the contract of its tool.</li>
        <li>Something it relied on turns out false. Everything built on it falls.</li>
        <li>You see the facts then and now, and what exactly would be done. You agree or refuse.</li>
        <li>The undo counts when somebody else than its doer has seen it in the world.</li>
      </ol>
      <button type="button" className="primary" onClick={signIn}>
        Sign in
      </button>
    </main>
  );
}
