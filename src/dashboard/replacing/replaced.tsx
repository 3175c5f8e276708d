import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { REPLACING_TEXTS } from '../text/replacing.ts';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { LINKS } from './documents.ts';

/** Shows what an accepted or rejected invoice replaces and what replaces it, and leads to the form that replaces it. */
export function Replaced({ id }: { readonly id: string }) {
  const { language, texts } = useLanguage();
  const { tenant, environment, address } = useWorkspace();
  const { data, reload } = useRead(LINKS, { id });
  useLive((documentId) => documentId === id || documentId === data?.invoice.replacedBy?.id, reload);
  const { title, replaces, replacedBy, action, lead } = REPLACING_TEXTS[language];
  const { invoice } = data ?? {};
  if (!invoice) return null;
  const isOffered = invoice.replacedBy === null && hasScope(tenant.role, 'issue', environment);
  if (!isOffered && invoice.replaces === null && invoice.replacedBy === null) return null;
  const links = [
    [replaces, invoice.replaces],
    [replacedBy, invoice.replacedBy],
  ] as const;
  return (
    <section class="card part" aria-labelledby="replaced">
      <h2 id="replaced">{title}</h2>
      {links.map(
        ([label, other]) =>
          other && (
            <p key={label}>
              {label}{' '}
              <a href={`${address}/invoices/${other.id}`}>
                <bdi>{other.number ?? texts.numberToCome}</bdi>
              </a>
            </p>
          ),
      )}
      {isOffered && (
        <>
          <p class="under">{lead[invoice.status === 'accepted' ? 'accepted' : 'rejected']}</p>
          <p class="actions">
            <a class="primary" href={`${address}/invoices/${id}/replace`}>
              {action}
            </a>
          </p>
        </>
      )}
    </section>
  );
}
