// Links to things whose names strangers chose. A name that cannot stand in an address is shown, and leads nowhere.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isAddressable } from './inert.js';

interface RunLinkProps {
  readonly id: string;
  /** Where several tenants have a run of this name. */
  readonly tenant?: string;
  readonly children: ReactNode;
}

export function RunLink({ id, tenant, children }: RunLinkProps): ReactNode {
  if (!isAddressable(id)) return children;
  return (
    <Link to="/runs/$runId" params={{ runId: id }} search={tenant === undefined ? {} : { tenant }}>
      {children}
    </Link>
  );
}
