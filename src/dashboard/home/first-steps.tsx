import { useLanguage } from '../interface/language.tsx';
import { useWorkspace } from '../workspace/workspace-context.ts';
import type { Home } from './documents.ts';

/**
 * Shows the first steps of a new tenant. A step is done when its result exists. The list disappears when all are done.
 */
export function FirstSteps({ home }: { home: Home }) {
  const { texts } = useLanguage();
  const { address, environment } = useWorkspace();
  const { steps, firstSteps, done, toDo } = texts.home;
  const isTest = environment === 'test';
  const all = [
    { name: steps.key, page: 'keys', isDone: home.apiKeys.some((key) => key.kind === 'secret' && !key.revokedAt) },
    { name: steps.invoice, page: isTest ? 'invoices/new' : 'invoices', isDone: home.newest.nodes.length > 0 },
    { name: steps.accepted, page: 'invoices', isDone: home.accepted.nodes.length > 0 },
    { name: steps.endpoint, page: 'endpoints', isDone: home.webhookEndpoints.length > 0 },
    { name: steps.delivered, page: 'deliveries', isDone: home.delivered.nodes.length > 0 },
  ];
  if (all.every(({ isDone }) => isDone)) return null;
  return (
    <section class="card part">
      <h2>{firstSteps}</h2>
      <ol class="first-steps">
        {all.map(({ name, page, isDone }) => (
          <li key={name} data-done={isDone}>
            <a href={`${address}/${page}`}>{name}</a> <span class="unseen">{isDone ? done : toDo}</span>
          </li>
        ))}
      </ol>
    </section>
  );
}
