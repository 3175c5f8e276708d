import { PageFrame } from './page-frame.tsx';

/** A page that only shows a text. */
export function Notice({ title, text }: { title: string; text: string }) {
  return (
    <PageFrame title={title}>
      <section class="card notice">
        <h1>{title}</h1>
        <p>{text}</p>
      </section>
    </PageFrame>
  );
}
