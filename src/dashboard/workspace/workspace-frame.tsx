import type { ComponentChildren } from 'preact';
import { hasScope } from '../../domain/scopes.ts';
import { ENVIRONMENTS } from '../../domain/tenant/tenant.ts';
import { BrandMark } from '../interface/brand-mark.tsx';
import { useContentFocus } from '../interface/content-focus.ts';
import type { IconName } from '../interface/icon.tsx';
import { LanguageSwitch, useLanguage } from '../interface/language.tsx';
import { useLastPlace } from '../interface/last-place.ts';
import { type Section, Sections } from '../interface/sections.tsx';
import { PaletteButton } from '../palette/palette-button.tsx';
import { IMPORT_TEXTS } from '../text/imports.ts';
import { PERIOD_TEXTS } from '../text/periods.ts';
import type { Connection } from './live-events.ts';
import { workspaceAddress } from './session.ts';
import { useWorkspace } from './workspace-context.ts';

/**
 * Shows the frame of a signed-in person's pages. Every page names the environment and shows it in a colour, because a
 * live invoice is a legal document.
 */
export function WorkspaceFrame({ connection, children }: { connection: Connection; children: ComponentChildren }) {
  const { texts, language } = useLanguage();
  useContentFocus();
  const { tenant, environment, address } = useWorkspace();
  const account = `${address}/account`;
  useLastPlace(account);
  const { workspace } = texts;
  const section = (icon: IconName, name: string): Section => ({ icon, name, href: `${address}/${icon}` });
  const groups: readonly (readonly Section[])[] = [
    [
      section('home', texts.home.title),
      { ...section('invoices', texts.invoices.title), also: `${address}/drafts` },
      section('imports', IMPORT_TEXTS[language].title),
      section('periods', PERIOD_TEXTS[language].title),
    ],
    [
      section('deliveries', texts.deliveries.title),
      section('endpoints', texts.endpoints.title),
      section('console', texts.console.title),
      section('keys', texts.keys.title),
      // The service refuses the request log to other roles.
      ...(hasScope(tenant.role, 'operate', environment) ? [section('requests', texts.requests.title)] : []),
    ],
    [
      section('people', texts.people.title),
      section('settings', texts.settings.title),
      ...(tenant.role === 'owner' ? [section('audit', texts.audit.title)] : []),
      { icon: 'account', name: texts.account.title, href: account },
    ],
  ];
  return (
    <div class="workspace" data-environment={environment}>
      <a class="skip" href="#content">
        {workspace.skip}
      </a>
      <header>
        <p class="place">
          <a class="brand" href={`${address}/home`}>
            <BrandMark />
            <bdi>{tenant.name}</bdi>
          </a>
        </p>
        <nav class="environments" aria-label={workspace.environment}>
          {ENVIRONMENTS.map((each) => (
            <a
              href={`${workspaceAddress(tenant.tenantId, each)}/home`}
              key={each}
              aria-current={each === environment ? 'true' : undefined}
            >
              {workspace[each]}
            </a>
          ))}
        </nav>
        <PaletteButton pages={groups.flat()} />
        <LanguageSwitch />
      </header>
      <Sections label={workspace.sections} groups={groups} />
      <p class="connection" role="status" data-connection={connection}>
        {connection === 'lost' && texts.lost}
      </p>
      {environment === 'test' && <p class="test-note">{workspace.testUnder}</p>}
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
