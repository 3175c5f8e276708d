import { FatouraInvoice } from './element.ts';

export { FatouraInvoice } from './element.ts';
export { type FollowOptions, follow, type LiveInvoice } from './follow.ts';

// Not where pages are rendered on a server.
if (globalThis.customElements && !customElements.get('fatoura-invoice'))
  customElements.define('fatoura-invoice', FatouraInvoice);

declare global {
  interface HTMLElementTagNameMap {
    'fatoura-invoice': FatouraInvoice;
  }
}
