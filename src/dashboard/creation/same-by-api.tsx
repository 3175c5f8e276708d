import { useState } from 'preact/hooks';
import { CopyButton } from '../interface/copy-button.tsx';
import { useLanguage } from '../interface/language.tsx';
import { WAYS, type Way, waysOf } from './by-api.ts';
import type { InvoiceInput } from './documents.ts';

/** Shows the request of the form as a program would send it. */
export function SameByApi({ input }: { input: InvoiceInput }) {
  const { texts } = useLanguage();
  const { byApi, byApiUnder } = texts.creation;
  const [chosen, setWay] = useState<Way>('curl');
  const ways = waysOf(input);
  const way = ways.includes(chosen) ? chosen : 'GraphQL';
  const code = WAYS[way](input, location.origin);
  return (
    <section class="part">
      <h2>{byApi}</h2>
      <p class="under">{byApiUnder}</p>
      <p class="actions">
        {ways.map((each) => (
          <button type="button" class="quiet" key={each} aria-pressed={each === way} onClick={() => setWay(each)}>
            <bdi>{each}</bdi>
          </button>
        ))}
        <CopyButton text={code} />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls must be reached by the keyboard */}
      <pre class="code" dir="ltr" lang="en" tabIndex={0}>
        <code>{code}</code>
      </pre>
    </section>
  );
}
