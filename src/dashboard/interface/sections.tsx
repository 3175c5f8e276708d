import { useEffect, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { Icon, type IconName } from './icon.tsx';

export interface Section {
  readonly icon: IconName;
  readonly name: string;
  readonly href: string;
  /** Whether only this very address is the section; default: everything below it, too. */
  readonly exact?: boolean;
  /** A page of its own, which the router of these pages leaves to the browser. */
  readonly apart?: boolean;
}

/**
 * The links to the sections, in groups. On a phone they are one line that scrolls; the present section is brought into
 * sight.
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
