// Links to things whose names strangers chose. A name that cannot stand in an address is shown, and leads nowhere.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { isAddressable } from './inert.js';

export function RunLink({ id, children }: { readonly id: string; readonly children: ReactNode }): ReactNode {
  if (!isAddressable(id)) return children;
  return (
    <Link to="/runs/$runId" params={{ runId: id }}>
      {children}
    </Link>
  );
}
