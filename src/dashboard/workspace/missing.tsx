import { useLanguage } from '../interface/language.tsx';
import { useWorkspace } from './workspace-context.ts';

/**
 * Shown in the frame of a signed-in person's pages for an address without a page, or one that the person may not see.
 */
export function Missing() {
  const { texts } = useLanguage();
  const { address } = useWorkspace();
  return (
    <section class="card notice">
      <h1>{texts.notFound}</h1>
      <p>{texts.notFoundUnder}</p>
      <p>
        <a href={`${address}/home`}>{texts.toStart}</a>
      </p>
    </section>
  );
}
