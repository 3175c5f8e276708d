import { hasScope } from '../../domain/scopes.ts';
import { useLanguage } from '../interface/language.tsx';
import { REPLACING_TEXTS } from '../text/replacing.ts';
import { useLive, useRead, useWorkspace } from '../workspace/workspace-context.ts';
import { REPLACING } from './documents.ts';

/** Shows which invoice replaces an accepted or rejected one, or leads to the form that replaces it. */
export function Replaced({ id }: { readonly id: string }) {
  const { language, texts } = useLanguage();
  const { tenant, environment, address } = useWorkspace();
  const { data, reload } = useRead(REPLACING, { id });
  useLive((documentId) => documentId === id || documentId === data?.invoice.replacedBy?.id, reload);
  const { title, replacedBy, action, lead } = REPLACING_TEXTS[language];
  const { invoice } = data ?? {};
  if (!invoice) return null;
  const replacing = invoice.replacedBy;
  if (!replacing && !hasScope(tenant.role, 'issue', environment)) return null;
  return (
    <section class="card part" aria-labelledby="replaced">
      <h2 id="replaced">{title}</h2>
      {replacing ? (
        <p>
          {replacedBy}{' '}
          <a href={`${address}/invoices/${replacing.id}`}>
            <bdi>{replacing.number ?? texts.numberToCome}</bdi>
          </a>
        </p>
      ) : (
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
