import { INVOICE_ROUTES } from './invoices.ts';
import type { Route } from './route.ts';
import { WEBHOOK_ENDPOINT_ROUTES } from './webhook-endpoints.ts';

/** The endpoints of the contract (docs/api/contract.md, "Endpoints"), in its order. */
export const ROUTES: readonly Route[] = [...INVOICE_ROUTES, ...WEBHOOK_ENDPOINT_ROUTES];
