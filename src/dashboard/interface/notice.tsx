import type { ComponentChildren } from 'preact';
import { PageFrame } from './page-frame.tsx';

interface NoticeProps {
  readonly title: string;
  readonly text: string;
  /** What the reader can do. */
  readonly children?: ComponentChildren;
}

/** A page that only shows a text. */
export function Notice({ title, text, children }: NoticeProps) {
  return (
    <PageFrame title={title}>
      <section class="card notice">
        <h1>{title}</h1>
        <p>{text}</p>
        {children && <p>{children}</p>}
      </section>
    </PageFrame>
  );
}
