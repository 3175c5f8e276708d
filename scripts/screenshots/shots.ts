import type { SampleWorkspace } from './sample-workspace.ts';

/** A page to take pictures of. */
export interface Shot {
  readonly name: string;
  /** With the fragment; `lang` is added. */
  readonly path: string;
  readonly language: 'fr' | 'en' | 'ar';
  /** The selector of an element that the page shows when it is complete. */
  readonly selector: string;
}

/** Every page, each in one language at least. @param tenant the path of the tenant's pages */
export function shotsOf(sample: SampleWorkspace, tenant: string): Shot[] {
  const { customerPages, openInvitation, invoiceId, rejectedId, draftId, creditNoteId, deliveryId, embedded } = sample;
  const [, , tenantId] = tenant.split('/');
  const page = (name: string, path: string, selector: string, ...languages: Shot['language'][]): Shot[] =>
    languages.map((language) => ({ name, path, language, selector }));
  return [
    // First, because it ends after some 15 s.
    ...page('waiting', customerPages.waiting, '[data-connection=live]', 'fr'),
    ...page('accepted', customerPages.accepted, '[data-status=accepted]', 'fr', 'ar'),
    ...page('rejected', customerPages.rejected, '[data-status=rejected]', 'en'),
    ...page('refused', '/i/inv_x#wrong', 'h1', 'fr'),
    ...page('welcome', '/', 'h1', 'fr', 'ar'),
    ...page('sign-in', '/sign-in', 'form', 'en', 'ar'),
    ...page('join', openInvitation, 'form', 'fr', 'ar'),
    ...page('used-link', '/join#x', '.aside', 'en'),
    ...page('forgotten-password', '/forgotten-password', 'form', 'fr'),
    ...page('new-password', '/new-password#x', 'form', 'ar'),
    ...page('new-address', '/new-address#x', 'form', 'fr', 'ar'),
    ...page('account', '/account', '.log li', 'fr', 'en', 'ar'),
    ...page('home', `${tenant}/home`, '.home:has(.chart):has(.part)', 'fr', 'ar', 'en'),
    ...page('period', `${tenant}/periods`, '[data-row=invoiced]', 'fr', 'ar', 'en'),
    ...page('creation', `${tenant}/invoices/new`, '.code', 'en', 'ar'),
    ...page('invoices', `${tenant}/invoices`, '.row-link', 'fr', 'ar', 'en'),
    ...page('invoice', `${tenant}/invoices/${invoiceId}`, '.part', 'en', 'ar', 'fr'),
    ...page('credit-note', `${tenant}/invoices/${creditNoteId}`, '.part', 'fr', 'ar'),
    ...page('crediting', `${tenant}/invoices/${invoiceId}/credit`, '.preview tbody', 'fr', 'ar', 'en'),
    ...page('replacing', `${tenant}/invoices/${rejectedId}/replace`, '.findings', 'fr', 'ar', 'en'),
    ...page('draft', `${tenant}/drafts/${draftId}`, '.findings', 'fr', 'ar', 'en'),
    ...page('drafts', `${tenant}/drafts`, '.row-link', 'fr', 'ar'),
    ...page('deliveries', `${tenant}/deliveries`, '.row-link', 'fr', 'ar', 'en'),
    ...page('delivery', `${tenant}/deliveries/${deliveryId}`, '.delivery pre', 'fr', 'ar'),
    ...page('endpoints', `${tenant}/endpoints`, '.endpoint', 'fr', 'ar'),
    ...page('console', `${tenant}/console`, '.console h1', 'en', 'ar'),
    ...page('keys', `${tenant}/keys`, '.log li', 'en', 'ar'),
    ...page('requests', `${tenant}/requests`, '.row-link', 'fr', 'en', 'ar'),
    ...page('people', `${tenant}/people`, '.log li', 'fr', 'ar'),
    ...page('rules', `${tenant}/rules`, '.rules li', 'fr', 'ar', 'en'),
    ...page('settings', `${tenant}/settings`, '#legalName', 'fr', 'ar'),
    ...page('audit', `${tenant}/audit`, '.delivery', 'en', 'ar'),
    ...page('live', tenant.replace(/test$/, 'live/home'), '.home h1', 'fr'),
    ...page('embedded-invoice', embedded.invoice, '[data-status=accepted]', 'fr'),
    ...page('embedded-deliveries', embedded.deliveries, '.log, .delivery, .rows', 'en'),
    ...page('operators', '/ops', '.rows', 'fr', 'ar'),
    ...page('tenants', '/ops/tenants', '.log li', 'en'),
    ...page('tenant', `/ops/tenants/${tenantId}`, '.first-steps', 'en', 'ar'),
    ...page('entries', '/ops/entries', 'h1', 'fr'),
  ];
}
