import { LANGUAGES, type Language } from '../../src/dashboard/text/languages.ts';
import type { SampleWorkspace } from './sample-workspace.ts';

/** A page to take pictures of. */
export interface Shot {
  readonly name: string;
  /** With the fragment; `lang` is added. */
  readonly path: string;
  readonly language: Language;
  /** The selector of an element that the page shows when it is complete. */
  readonly selector: string;
}

/** Every page in every language. @param tenant the path of the tenant's pages */
export function shotsOf(sample: SampleWorkspace, tenant: string): Shot[] {
  const {
    customerPages,
    openInvitation,
    invoiceId,
    rejectedId,
    draftId,
    creditNoteId,
    deliveryId,
    embedded,
    importId,
  } = sample;
  const [, , tenantId] = tenant.split('/');
  const page = (name: string, path: string, selector: string): Shot[] =>
    LANGUAGES.map((language) => ({ name, path, language, selector }));
  return [
    // First, because it ends after some 15 s.
    ...page('waiting', customerPages.waiting, '[data-status]'),
    ...page('accepted', customerPages.accepted, '[data-status=accepted]'),
    ...page('rejected', customerPages.rejected, '[data-status=rejected]'),
    ...page('refused', '/i/inv_x#wrong', 'h1'),
    ...page('verify', `/verify/${invoiceId}`, '.verdict'),
    ...page('verify-unknown', '/verify/inv_x', '.verdict'),
    ...page('welcome', '/', 'h1'),
    ...page('sign-in', '/sign-in', 'form'),
    ...page('join', openInvitation, 'form'),
    ...page('used-link', '/join#x', '.aside'),
    ...page('forgotten-password', '/forgotten-password', 'form'),
    ...page('new-password', '/new-password#x', 'form'),
    ...page('new-address', '/new-address#x', 'form'),
    ...page('account', `${tenant}/account`, '.log li'),
    ...page('home', `${tenant}/home`, '.home:has(.chart):has(.part)'),
    ...page('period', `${tenant}/periods`, 'main:not(:has([aria-busy=true])) [data-row=invoiced]'),
    ...page('creation', `${tenant}/invoices/new`, '.code'),
    ...page('invoices', `${tenant}/invoices`, '.row-link'),
    ...page('invoice', `${tenant}/invoices/${invoiceId}`, '.part'),
    ...page('credit-note', `${tenant}/invoices/${creditNoteId}`, '.part'),
    ...page('crediting', `${tenant}/invoices/${invoiceId}/credit`, '.preview tbody'),
    ...page('replacing', `${tenant}/invoices/${rejectedId}/replace`, '.findings'),
    ...page('draft', `${tenant}/drafts/${draftId}`, '.findings'),
    ...page('imports', `${tenant}/imports`, '.row-link'),
    ...page('import', `${tenant}/imports/${importId}`, '.problems li'),
    ...page('drafts', `${tenant}/drafts`, '.row-link'),
    ...page('deliveries', `${tenant}/deliveries`, '.row-link'),
    ...page('delivery', `${tenant}/deliveries/${deliveryId}`, '.delivery pre'),
    ...page('endpoints', `${tenant}/endpoints`, '.endpoint'),
    ...page('console', `${tenant}/console`, '.console h1'),
    ...page('keys', `${tenant}/keys`, '.log li'),
    ...page('requests', `${tenant}/requests`, '.row-link'),
    ...page('people', `${tenant}/people`, '.log li'),
    ...page('rules', `${tenant}/rules`, '.rules li'),
    ...page('settings', `${tenant}/settings`, '#legalName'),
    ...page('audit', `${tenant}/audit`, '.delivery'),
    ...page('live', tenant.replace(/test$/, 'live/home'), '.home h1'),
    ...page('embedded-invoice', embedded.invoice, '[data-status=accepted]'),
    ...page('embedded-deliveries', embedded.deliveries, '.log, .delivery, .rows'),
    ...page('operators', '/ops', '.rows'),
    ...page('tenants', '/ops/tenants', '.log li'),
    ...page('tenant', `/ops/tenants/${tenantId}`, '.first-steps'),
    ...page('entries', '/ops/entries', 'h1'),
  ];
}
