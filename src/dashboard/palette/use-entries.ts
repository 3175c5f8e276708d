import { folded, wordsOf } from '../../domain/invoice/search/fold.ts';
import { hasScope } from '../../domain/scopes.ts';
import { ENVIRONMENTS } from '../../domain/tenant/tenant.ts';
import { useLanguage } from '../interface/language.tsx';
import type { Section } from '../interface/sections.tsx';
import { DRAFT_TEXTS } from '../text/drafts.ts';
import { PALETTE_TEXTS } from '../text/palette.ts';
import { workspaceAddress } from '../workspace/session.ts';
import { useWorkspace } from '../workspace/workspace-context.ts';
import { documentAddress } from './document-address.ts';
import { type Found, type FoundDocument, useFound } from './use-found.ts';

interface Entry {
  readonly href: string;
  readonly name: string;
  /** The document that is shown instead of the name. */
  readonly document?: FoundDocument;
}

interface Entries {
  readonly groups: readonly { readonly name: string; readonly entries: readonly Entry[] }[];
  readonly state: Found['state'];
}

/** Returns what the palette offers for a typed text: the documents that match, then pages and actions. */
export function useEntries(typed: string, pages: readonly Section[]): Entries {
  const { texts, language } = useLanguage();
  const { tenant, environment, address } = useWorkspace();
  const { documents, state } = useFound(typed);
  const names = PALETTE_TEXTS[language];
  const asked = wordsOf(folded(typed));
  const matching = (entries: readonly Entry[]) =>
    entries.filter(({ name }) => {
      const own = wordsOf(folded(name));
      return asked.every((word) => own.some((each) => each.startsWith(word)));
    });
  const actions: Entry[] = [
    ...(hasScope(tenant.role, 'issue', environment)
      ? [
          {
            href: `${address}/invoices/new`,
            name: (environment === 'test' ? texts.creation : texts.creation.live).title,
          },
        ]
      : []),
    ...(hasScope(tenant.role, 'draft', environment)
      ? [{ href: `${address}/drafts`, name: DRAFT_TEXTS[language].title }]
      : []),
    ...ENVIRONMENTS.filter((each) => each !== environment).map((each) => ({
      href: `${workspaceAddress(tenant.tenantId, each)}/home`,
      name: texts.workspace[each],
    })),
  ];
  const found = documents.map((document) => ({
    href: `${address}/invoices/${document.id}`,
    name: document.number ?? document.id,
    document,
  }));
  const all = { href: `${address}/invoices?${new URLSearchParams({ search: typed })}`, name: names.all(typed) };
  const own = documentAddress(address, typed);
  const groups = [
    { name: names.documents, entries: asked.length === 0 ? [] : [...found, ...(own === null ? [all] : [])] },
    { name: names.pages, entries: matching(pages) },
    { name: names.actions, entries: matching(actions) },
  ];
  return { groups: groups.filter(({ entries }) => entries.length > 0), state };
}
