import { useLanguage } from '../interface/language.tsx';

/** Shown in the frame of a signed-in person's pages for an address without a page, or one that the person may not see. */
export function Missing() {
  const { texts } = useLanguage();
  return (
    <section class="card notice">
      <h1>{texts.notFound}</h1>
      <p>{texts.notFoundUnder}</p>
    </section>
  );
}
