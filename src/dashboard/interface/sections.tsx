import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Icon, type IconName } from './icon.tsx';

export interface Section {
  readonly icon: IconName;
  readonly name: string;
  readonly href: string;
  /** Whether only this exact address belongs to the section; default: also all addresses below it. */
  readonly exact?: boolean;
  /** Whether the link leads outside this program, so that its router leaves it to the browser. */
  readonly apart?: boolean;
}

/**
 * Shows the links to the sections, in groups. On a phone they are one scrolling line, in which the current section is
 * scrolled into view.
 */
export function Sections({ label, groups }: { label: string; groups: readonly (readonly Section[])[] }) {
  const { path } = useLocation();
  const nav = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>('[aria-current]');
    if (!nav.current || !current) return;
    const [line, link] = [nav.current.getBoundingClientRect(), current.getBoundingClientRect()];
    nav.current.scrollBy({ left: link.left + link.width / 2 - (line.left + line.width / 2) });
  }, [path]);
  return (
    <nav class="sections" aria-label={label} ref={nav}>
      {groups.map((group) => (
        <div key={group[0]?.href}>
          {group.map(({ icon, name, href, exact, apart }) => (
            <a
              key={href}
              href={href}
              aria-current={(exact ? path === href : path.startsWith(href)) ? 'page' : undefined}
              {...(apart && { target: '_blank', rel: 'noopener' })}
            >
              <Icon name={icon} />
              {name}
            </a>
          ))}
        </div>
      ))}
    </nav>
  );
}
