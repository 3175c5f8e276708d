import type { ComponentChildren } from 'preact';
import { PageFrame } from '../interface/page-frame.tsx';

/** Shows a page with one card: a form of the accounts, or its result. */
export function AccountCard({ title, lead, children }: { title: string; lead?: string; children?: ComponentChildren }) {
  return (
    <PageFrame title={title}>
      <section class="card account">
        <h1>{title}</h1>
        {lead && <p class="under">{lead}</p>}
        {children}
      </section>
    </PageFrame>
  );
}
