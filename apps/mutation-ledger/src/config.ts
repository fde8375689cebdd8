// Environment of the mutation ledger.
import { SERVICE_CONFIG } from '@recourse/service';

export const CONFIG = { ...SERVICE_CONFIG } as const;
