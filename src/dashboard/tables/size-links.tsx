import { useLanguage } from '../interface/language.tsx';
import { TABLE_TEXTS } from '../text/tables.ts';
import { PAGE_SIZES, sizeInAddress } from './page-sizes.ts';

/** Shows links to the list with other sizes of its pages. They lead to the first page. */
export function PageSizes({ size, to }: { size: number; to: (size: string | null) => string }) {
  const { language } = useLanguage();
  const { sizes, size: named } = TABLE_TEXTS[language];
  return (
    <nav class="sizes" aria-label={sizes}>
      {PAGE_SIZES.map((each) => (
        <a
          key={each}
          href={to(sizeInAddress(each))}
          aria-label={named(each)}
          aria-current={each === size ? 'true' : undefined}
        >
          {each}
        </a>
      ))}
    </nav>
  );
}
