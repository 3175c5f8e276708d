import { INVOICE_ROUTES } from './invoices.ts';
import type { Route } from './route.ts';
import { WEBHOOK_ENDPOINT_ROUTES } from './webhook-endpoints.ts';

/** The contract's endpoints ("Endpoints"), in its order. */
export const ROUTES: readonly Route[] = [...INVOICE_ROUTES, ...WEBHOOK_ENDPOINT_ROUTES];
