// Who is let in by a program of ours, as its configuration says.
import type { Logger } from '@recourse/telemetry';
import type { Trouble } from '../running-service.js';
import { jwksOf } from '../service-config.js';
import type { ServiceConfig } from '../service-config.js';
import { createAuthenticate } from './authenticate.js';
import type { Authenticate } from './authenticate.js';
import { directoryIn } from './directory.js';
import { keysAt, keysOfFile } from './issuer-keys.js';

export interface TokenCheck {
  readonly authenticate: Authenticate;
  /** Why nobody can be let in; null where somebody can. */
  readonly trouble: () => Trouble | null;
  /** Asks the issuer no more. */
  readonly close: () => void;
}

type Said = Pick<ServiceConfig, 'jwtIssuer' | 'jwtAudience' | 'jwksFile' | 'jwksUrl' | 'directoryFile'>;

/** Asks the issuer for its keys from now on until it has them. Errors: TypeError for a file without keys. */
export function tokenCheck(config: Said, logger: Pick<Logger, 'warn'>): TokenCheck {
  const jwks = jwksOf(config);
  const keys = 'url' in jwks ? keysAt(jwks) : keysOfFile(jwks.file);
  const directory = directoryIn(config.directoryFile);
  const over = new AbortController();
  let told: string | null = null;
  const tell = ({ code, detail }: Trouble, retryMs?: number): void => {
    told = detail;
    logger.warn({ code, detail, retry_ms: retryMs }, 'nobody is let in');
  };
  void keys.learn({ signal: over.signal, onFailure: tell });
  const { jwtIssuer: issuer, jwtAudience: audience } = config;
  return {
    authenticate: createAuthenticate({ issuer, audience, keys, directory }),
    // Who is not ready may be asked nothing else, which would tell of it.
    trouble: () => {
      const now = keys.trouble() ?? directory.trouble();
      if (now === null) told = null;
      else if (now.detail !== told) tell(now);
      return now;
    },
    close: () => {
      over.abort();
    },
  };
}
