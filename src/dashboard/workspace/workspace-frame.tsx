import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { BrandMark } from '../interface/brand-mark.tsx';
import { LanguageSwitch, useLanguage } from '../interface/language.tsx';
import type { Connection } from './live-events.ts';
import { mayChange } from './permissions.ts';
import { type Environment, workspaceAddress } from './session.ts';
import { useWorkspace } from './workspace-context.ts';

const ENVIRONMENTS = ['test', 'live'] as const satisfies readonly Environment[];

/**
 * The frame of a signed-in person's pages. The environment has a name and a colour on every page, because an invoice of
 * the live one is a legal document.
 */
export function WorkspaceFrame({ connection, children }: { connection: Connection; children: ComponentChildren }) {
  const { texts } = useLanguage();
  const { tenant, environment, address } = useWorkspace();
  const { path } = useLocation();
  const { workspace } = texts;
  const sections = [
    ['home', texts.home.title],
    ['invoices', texts.invoices.title],
    ['deliveries', texts.deliveries.title],
    ['endpoints', texts.endpoints.title],
    ['console', texts.console.title],
    ['keys', texts.keys.title],
    // The service refuses the log to others.
    ...(mayChange('endpoints', tenant.role, environment) ? [['requests', texts.requests.title] as const] : []),
    ['people', texts.people.title],
    ['settings', texts.settings.title],
    ...(tenant.role === 'owner' ? [['audit', texts.audit.title] as const] : []),
  ] as const;
  return (
    <div class="workspace" data-environment={environment}>
      <a class="skip" href="#content">
        {workspace.skip}
      </a>
      <header>
        <p class="place">
          <a class="brand" href="/account">
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
        <LanguageSwitch />
      </header>
      <nav class="sections" aria-label={workspace.sections}>
        {sections.map(([page, name]) => (
          <a
            key={page}
            href={`${address}/${page}`}
            aria-current={path.startsWith(`${address}/${page}`) ? 'page' : undefined}
          >
            {name}
          </a>
        ))}
        <a href="/account">{texts.account.title}</a>
        <p class="connection" role="status" data-connection={connection}>
          {(connection === 'lost' || connection === 'live') && texts[connection]}
        </p>
      </nav>
      {environment === 'test' && <p class="test-note">{workspace.testUnder}</p>}
      <main id="content" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}
